"""Signatures: every byte of every file is covered, and a name is not an identity."""

import json
import os
import resource
import shutil
import stat
from contextlib import contextmanager

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pathveil as pv
from pathveil.errors import ParameterError, ReleaseError
from pathveil.promise import signing_keys
from pathveil.promise.signing_keys import make_keys, read_private_key, read_public_key
from pathveil.release import signature
from pathveil.release.bundle import verify_bundle
from pathveil.release.signature import Signer, check_signature, sign_bundle

UNIVERSE = pv.Universe(["a", "b", "c"])


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Two keys and a signed bundle; never changed."""
    home = tmp_path_factory.mktemp("signed")
    make_keys(home / "key")
    make_keys(home / "other")
    database = pv.TrajectoryDatabase.from_sequences([["a", "b"], ["c"]] * 80, UNIVERSE)
    signer = Signer("City Transit", read_private_key(home / "key"))
    pv.publish(database, epsilon="4", height=2).write(home / "bundle", csv=True, signer=signer)
    return home


@pytest.fixture
def bundle(home, tmp_path):
    return shutil.copytree(home / "bundle", tmp_path / "bundle")


def refused(bundle, known=None):
    """Whether `pathveil verify` would refuse it."""
    try:
        verify_bundle(bundle)
        check_signature(bundle, known)
    except ReleaseError:
        return True
    return False


def test_a_bundle_that_was_signed_as_it_was_written(home):
    verify_bundle(home / "bundle")
    signed = check_signature(home / "bundle")
    assert signed.signer == "City Transit"
    assert not signed.is_known
    known = check_signature(home / "bundle", read_public_key(home / "key.pub"))
    assert known.is_known
    assert known.fingerprint == signed.fingerprint


def test_it_covers_every_file_but_itself(home):
    listed = json.loads((home / "bundle" / "signature.json").read_bytes())["files"]
    present = {path.name for path in (home / "bundle").iterdir()}
    assert set(listed) == present - {"signature.json"}
    assert "privacy-certificate.json" in listed


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_a_flipped_bit_anywhere_is_found(home, bundle, data):
    names = sorted(path.name for path in bundle.iterdir())
    path = bundle / data.draw(st.sampled_from(names))
    content = bytearray(path.read_bytes())
    where = data.draw(st.integers(0, len(content) - 1))
    content[where] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    try:
        with pytest.raises(ReleaseError):
            check_signature(bundle)
    finally:
        shutil.copy(home / "bundle" / path.name, path)


def test_every_byte_of_the_signature_itself_counts(home, bundle):
    """Also spaces and the case of digits, which other readers of JSON would let pass."""
    path = bundle / "signature.json"
    original = path.read_bytes()
    for where in range(len(original)):
        for other in (b" ", b"\t", b"A"):
            if original[where : where + 1] != other:
                path.write_bytes(original[:where] + other + original[where + 1 :])
                with pytest.raises(ReleaseError):
                    check_signature(bundle)
    path.write_bytes(original + b"\n")
    assert refused(bundle)
    path.write_bytes(original)
    assert not refused(bundle)
    assert original == (home / "bundle" / "signature.json").read_bytes()


def add(bundle):
    (bundle / "more.txt").write_text("x")


def remove(bundle):
    (bundle / "trajectories.csv").unlink()


def rename(bundle):
    (bundle / "trajectories.csv").rename(bundle / "trajectories.tsv")


def swap(bundle):
    one, other = bundle / "report.html", bundle / "datapackage.json"
    content = one.read_bytes(), other.read_bytes()
    one.write_bytes(content[1])
    other.write_bytes(content[0])


def add_folder(bundle):
    (bundle / "more").mkdir()


@pytest.mark.parametrize("change", [add, remove, rename, swap, add_folder])
def test_added_removed_renamed_and_swapped_files_are_found(bundle, change):
    change(bundle)
    with pytest.raises(ReleaseError):
        check_signature(bundle)
    assert refused(bundle)


def test_a_changed_certificate_with_hashes_that_fit_is_found(bundle):
    path = bundle / "privacy-certificate.json"
    certificate = json.loads(path.read_bytes())
    path.write_text(json.dumps(certificate), encoding="utf-8")  # the same, spelled otherwise
    with pytest.raises(ReleaseError, match=r"privacy-certificate\.json does not follow"):
        verify_bundle(bundle)
    with pytest.raises(ReleaseError, match=r"privacy-certificate\.json"):
        check_signature(bundle)


def test_a_forger_with_a_key_of_their_own_is_told_from_the_publisher(home, bundle):
    """The forger may choose the same name; the key gives them away."""
    (bundle / "signature.json").unlink()
    forger = Signer("City Transit", read_private_key(home / "other"))
    sign_bundle(bundle, forger, verify_bundle)
    assert not check_signature(bundle).is_known
    with pytest.raises(ReleaseError, match="another key"):
        check_signature(bundle, read_public_key(home / "key.pub"))


def test_a_name_can_not_be_changed_nor_a_key_exchanged(home, bundle):
    path = bundle / "signature.json"
    signature = json.loads(path.read_bytes())
    other = signing_keys.raw(read_public_key(home / "other.pub")).hex()
    for change in ({"signer": "City Trains"}, {"public_key": other}, {"files": {}}):
        changed = json.dumps(signature | change, indent=2, sort_keys=True) + "\n"
        path.write_text(changed, encoding="utf-8")
        with pytest.raises(ReleaseError, match="does not hold"):
            check_signature(bundle)


def test_a_removed_signature_is_missed_only_by_who_did_not_ask_for_one(home, bundle):
    (bundle / "signature.json").unlink()
    assert check_signature(bundle) is None
    with pytest.raises(ReleaseError, match="not signed"):
        check_signature(bundle, read_public_key(home / "key.pub"))


def test_a_damaged_bundle_is_not_signed_and_a_signed_one_not_twice(home, bundle):
    signer = Signer("me", read_private_key(home / "key"))
    with pytest.raises(ReleaseError, match="signed already"):
        sign_bundle(bundle, signer, verify_bundle)
    (bundle / "signature.json").unlink()
    (bundle / "report.html").write_text("changed")
    with pytest.raises(ReleaseError, match="changed"):
        sign_bundle(bundle, signer, verify_bundle)
    assert not (bundle / "signature.json").exists()


def test_of_two_that_sign_at_once_one_wins_and_its_signature_stays(home, bundle):
    (bundle / "signature.json").unlink()
    quick = Signer("quick", read_private_key(home / "key"))
    slow = Signer("slow", read_private_key(home / "other"))

    def overtaken(directory):
        verify_bundle(directory)
        sign_bundle(directory, quick, verify_bundle)

    with pytest.raises(ReleaseError, match="signed by another run"):
        sign_bundle(bundle, slow, overtaken)
    assert check_signature(bundle, quick.key.public_key()).signer == "quick"


@contextmanager
def room_for(length):
    """No file may grow beyond so many bytes: what a full disk does to a writer, without a disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (length, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_signature_that_does_not_fit_on_the_disk_leaves_nothing(home, bundle):
    (bundle / "signature.json").unlink()
    signer = Signer("me", read_private_key(home / "key"))
    with room_for(200), pytest.raises(ReleaseError, match="Can't write"):
        sign_bundle(bundle, signer, verify_bundle)
    assert not (bundle / "signature.json").exists()


def multiple(scalar, point):
    """The scalar-th multiple of a point of the curve, by its law of addition."""
    prime, d = 2**255 - 19, -121665 * pow(121666, -1, 2**255 - 19)
    total = (0, 1)
    for _ in range(scalar):
        (x, y), (u, v) = total, point
        share = d * x * u * y * v
        total = (
            (x * v + y * u) * pow(1 + share, -1, prime) % prime,
            (y * v + x * u) * pow(1 - share, -1, prime) % prime,
        )
    return total


def points_of_low_order():
    """The eight points whose eighth multiple is the neutral one, found from the curve alone."""
    prime = 2**255 - 19
    d = -121665 * pow(121666, -1, prime) % prime
    root = pow(2, (prime - 1) // 4, prime)  # of minus one
    # A point of order 8 has x² = -y² or x² = y² (its double has y = 0), and d·y⁴ ± 2·y² - 1 = 0.
    found = {(0, 1), (0, prime - 1), (root, 0), (prime - root, 0)}
    for y in signing_keys._LOW_ORDER - {0, 1, prime - 1}:
        for x in (root * y % prime, -root * y % prime):
            if (-x * x + y * y - 1 - d * x * x * y * y) % prime == 0:
                found.add((x, y))
    return found


def test_the_points_of_low_order_are_eight():
    points = points_of_low_order()
    assert len(points) == 8
    assert all(multiple(8, point) == (0, 1) for point in points)


def encoded(point, spelling=0):
    x, y = point
    return (y + spelling * (2**255 - 19) | (x & 1) << 255).to_bytes(32, "little")


def test_a_key_for_which_anybody_can_sign_is_refused(home, bundle, tmp_path):
    """A forgery that OpenSSL accepts: the neutral point, R the neutral point, S zero."""
    nobody = encoded((0, 1))
    path = bundle / "signature.json"
    found = signature.SignatureFile.model_validate_json(path.read_bytes())
    forged = found.model_copy(
        update={"public_key": nobody.hex(), "signature": (nobody + bytes(32)).hex()}
    )
    Ed25519PublicKey.from_public_bytes(nobody).verify(nobody + bytes(32), forged.message())
    path.write_text(forged.text(), encoding="utf-8")
    with pytest.raises(ReleaseError, match="does not hold"):
        check_signature(bundle)
    for point in points_of_low_order():
        spellings = (0, 1) if point[1] < 19 else (0,)
        for spelling in spellings:
            key = Ed25519PublicKey.from_public_bytes(encoded(point, spelling))
            pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
            (tmp_path / "nobody.pub").write_bytes(pem)
            with pytest.raises(ParameterError, match="anybody can sign"):
                read_public_key(tmp_path / "nobody.pub")
    assert not signing_keys.is_low_order(signing_keys.raw(read_public_key(home / "key.pub")))


def test_a_certificate_that_says_something_twice_is_refused(home, bundle):
    """Other readers take the first of two names, we took the last."""
    path = bundle / "privacy-certificate.json"
    text = path.read_text(encoding="utf-8")
    start = text.index('"epsilon"')
    path.write_text(f'{text[:start]}"epsilon": "0.001", {text[start:]}', encoding="utf-8")
    (bundle / "signature.json").unlink()
    with pytest.raises(ReleaseError, match="says something twice"):
        verify_bundle(bundle)
    signer = Signer("me", read_private_key(home / "key"))
    with pytest.raises(ReleaseError, match="says something twice"):
        sign_bundle(bundle, signer, verify_bundle)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"null", b"\xff", b"{" * 10_000, b"1" * 10])
def test_what_is_no_signature_is_refused(bundle, content):
    (bundle / "signature.json").write_bytes(content)
    with pytest.raises(ReleaseError, match="not a signature"):
        check_signature(bundle)


def test_a_signed_release_reads_like_any_other(home):
    assert len(pv.read_release(home / "bundle")) > 0


# Keys


def test_only_the_owner_may_read_a_private_key(tmp_path):
    make_keys(tmp_path / "key")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert b"PRIVATE" not in (tmp_path / "key.pub").read_bytes()
    (tmp_path / "key").chmod(0o640)
    with pytest.raises(ParameterError, match="chmod 600"):
        read_private_key(tmp_path / "key")


def test_a_wide_open_umask_does_not_open_the_key(tmp_path):
    before = os.umask(0)
    try:
        make_keys(tmp_path / "key")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


def test_a_key_is_never_overwritten(tmp_path):
    make_keys(tmp_path / "key")
    before = (tmp_path / "key").read_bytes()
    with pytest.raises(ParameterError, match="never overwritten"):
        make_keys(tmp_path / "key")
    (tmp_path / "new.pub").write_text("mine")
    with pytest.raises(ParameterError, match="never overwritten"):
        make_keys(tmp_path / "new")
    assert (tmp_path / "key").read_bytes() == before
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("room", [0, 60, 115])
def test_a_disk_without_room_for_a_key_keeps_nothing_of_it(tmp_path, room):
    with room_for(room), pytest.raises(ParameterError, match="Can't write the key"):
        make_keys(tmp_path / "key")
    assert list(tmp_path.iterdir()) == []


def test_a_public_half_that_can_not_be_written_takes_the_private_one_away(tmp_path, monkeypatch):
    write = signing_keys.write_new

    def full(path, content, mode):
        with room_for(60 if path.suffix == ".pub" else 10_000):
            write(path, content, mode)

    monkeypatch.setattr(signing_keys, "write_new", full)
    with pytest.raises(ParameterError, match="Can't write the key"):
        make_keys(tmp_path / "key")
    assert list(tmp_path.iterdir()) == []


def test_a_key_does_not_go_into_a_release(bundle):
    with pytest.raises(ParameterError, match="inside a release"):
        make_keys(bundle / "key")


def test_a_passphrase_is_needed_to_open_what_it_closed(tmp_path, monkeypatch):
    monkeypatch.setenv("PATHVEIL_KEY_PASSPHRASE", "open sesame")
    make_keys(tmp_path / "key")
    assert b"ENCRYPTED" in (tmp_path / "key").read_bytes()
    read_private_key(tmp_path / "key")
    monkeypatch.setenv("PATHVEIL_KEY_PASSPHRASE", "wrong one")
    with pytest.raises(ParameterError, match="is wrong") as wrong:
        read_private_key(tmp_path / "key")
    monkeypatch.delenv("PATHVEIL_KEY_PASSPHRASE")
    with pytest.raises(ParameterError, match="is not set") as missing:
        read_private_key(tmp_path / "key")
    for error in (wrong.value, missing.value):
        assert "sesame" not in str(error)
        assert "wrong one" not in str(error)


X25519 = (
    b"-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VuAyEA" + b"A" * 43 + b"=\n-----END PUBLIC KEY-----\n"
)


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"\x00" * 100, X25519, b"-----BEGIN PRIVATE KEY"]
)
def test_what_is_no_key_is_refused_without_being_quoted(tmp_path, content):
    path = tmp_path / "key"
    path.write_bytes(content)
    path.chmod(0o600)
    for read in (read_private_key, read_public_key):
        with pytest.raises(ParameterError) as refusal:
            read(path)
        assert "hello" not in str(refusal.value)


def test_keys_that_are_not_there_or_of_the_wrong_half_are_refused(home, tmp_path):
    for read in (read_private_key, read_public_key):
        for path in (tmp_path / "nowhere", tmp_path, tmp_path / "a\0b"):
            with pytest.raises(ParameterError):
                read(path)
    with pytest.raises(ParameterError):
        read_public_key(home / "key")
    shutil.copy(home / "key.pub", tmp_path / "public")
    (tmp_path / "public").chmod(0o600)
    with pytest.raises(ParameterError):
        read_private_key(tmp_path / "public")


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "\x1b[31mred", "x" * 201, "a\u202eb"])
def test_a_name_that_would_deceive_a_terminal_is_refused(home, name):
    with pytest.raises(ParameterError):
        Signer(name, read_private_key(home / "key"))


def test_a_signer_does_not_show_its_key(home):
    signer = Signer("me", read_private_key(home / "key"))
    assert repr(signer) == str(signer) == "Signer('me')"
