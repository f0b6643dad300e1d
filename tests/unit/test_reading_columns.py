"""Which column plays which role: explicit names, well-known names, and clear refusals."""

import pytest

from pathveil.errors import ParameterError
from pathveil.raw.sources.columns import Columns, choose_columns, proposed


@pytest.mark.parametrize(
    ("available", "expected"),
    [
        (  # ours
            ["user_id", "trajectory_id", "seq", "location", "time"],
            Columns("user_id", "trajectory_id", "seq", "location"),
        ),
        (  # scikit-mobility, mapped to a tessellation
            ["uid", "tid", "datetime", "lat", "lng", "tile_ID"],
            Columns("uid", "tid", "datetime", "tile_ID"),
        ),
        (  # TIDES fare_transactions
            ["transaction_id", "service_date", "event_timestamp", "token_id", "stop_id", "amount"],
            Columns("token_id", None, "event_timestamp", "stop_id"),
        ),
        (  # trackintel staypoints
            ["id", "user_id", "started_at", "finished_at", "geom", "location_id"],
            Columns("user_id", None, "started_at", "location_id"),
        ),
        (  # trackintel position fixes
            ["id", "user_id", "tracked_at", "geom", "location_id"],
            Columns("user_id", None, "tracked_at", "location_id"),
        ),
    ],
)
def test_common_formats_are_recognised(available, expected):
    assert choose_columns(available) == expected


def test_explicit_names_win():
    names = ["user_id", "household", "trajectory_id", "seq", "location", "area"]
    assert choose_columns(names, unit="household", location="area") == Columns(
        "household", "trajectory_id", "seq", "area"
    )


def test_a_column_named_for_one_role_is_not_recognised_for_another():
    assert choose_columns(["tid", "stop_id"], unit="tid") == Columns("tid", None, None, "stop_id")
    assert choose_columns(["tid", "stop_id"], unit="tid").used == ("tid", "stop_id")


def test_an_unknown_name_lists_the_columns_and_the_nearest():
    with pytest.raises(ParameterError) as error:
        choose_columns(["Card_ID", "stop", "when"], unit="card_id", location="stop")
    assert "no column 'card_id'" in str(error.value)
    assert "Did you mean 'Card_ID'?" in str(error.value)
    assert "Columns: 'Card_ID', 'stop', 'when'." in str(error.value)


def test_a_long_list_of_columns_is_cut():
    with pytest.raises(ParameterError, match=r"'c29', …\.$"):
        choose_columns([f"c{i}" for i in range(100)], unit="nobody")


def test_a_missing_unit_or_location_column_is_required():
    with pytest.raises(ParameterError, match=r"unit column .* is required.*--unit-column"):
        choose_columns(["who", "location"])
    with pytest.raises(ParameterError, match="location column is required"):
        choose_columns(["user_id", "where"])
    with pytest.raises(ParameterError, match="no columns"):
        choose_columns([])


def test_what_is_ambiguous_is_not_guessed():
    with pytest.raises(ParameterError, match="could be the unit: 'uid', 'token_id'"):
        choose_columns(["uid", "token_id", "stop_id"])
    with pytest.raises(ParameterError, match="could be the order: 'seq', 'datetime'"):
        choose_columns(["uid", "seq", "datetime", "stop_id"])
    with pytest.raises(ParameterError, match="could be the unit: 'uid', 'uid'"):
        choose_columns(["uid", "uid", "stop_id"])
    with pytest.raises(ParameterError, match="2 columns named 'who'"):
        choose_columns(["who", "who", "stop_id"], unit="who")


def test_one_column_can_not_play_two_roles():
    with pytest.raises(ParameterError, match="two roles"):
        choose_columns(["a", "b"], unit="a", trajectory="a", location="b")


def test_a_name_must_be_text():
    with pytest.raises(ParameterError, match="unit column must be given by its name"):
        choose_columns(["a", "b"], unit=0, location="b")


def test_names_that_may_be_data_are_not_shown():
    with pytest.raises(ParameterError) as error:
        choose_columns(["u77", "S12", "3"], unit="u7", location="stop", showable=False)
    assert "S12" not in str(error.value)
    assert "u77" not in str(error.value)
    assert "does not look like a header" in str(error.value)


@pytest.mark.parametrize(
    ("header", "roles"),
    [
        ("Karte;Zeit;Haltestelle", "Karte Zeit Haltestelle"),
        ("Kartennummer;Datum;Haltestellenname", "Kartennummer Datum Haltestellenname"),
        ("Fahrkarte;Zeitstempel;Ort", "Fahrkarte Zeitstempel Ort"),
        ("N° carte;carte;Heure;Arrêt", "carte Heure Arrêt"),
        ("Tarjeta;Fecha/Hora;Parada", "Tarjeta Fecha/Hora Parada"),
        ("Card ID;Tapped At;Stop", "Card ID|Tapped At|Stop"),
        ("user_id;card;seq;stop_id", "user_id seq stop_id"),  # a well-known name comes first
        ("Karte;Karten-ID;Datum;Uhrzeit;Linie", "None None None"),  # two, two, none
    ],
)
def test_a_guided_run_proposes_what_headers_say_in_any_language(header, roles):
    found = [proposed(role, header.split(";")) for role in ("unit", "order", "location")]
    assert list(map(str, found)) == roles.split("|" if "|" in roles else " ")


def test_what_is_only_proposed_is_not_taken_without_asking():
    with pytest.raises(ParameterError, match=r"unit column .* is required"):
        choose_columns(["Karte", "Zeit", "Haltestelle"])
