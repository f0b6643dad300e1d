"""``pathveil verify``: is this bundle whole, unchanged and what it says it is?"""

from pathveil.cli import options


def verify(directory: options.Bundle, json: options.Json = False) -> None:
    """Check a release bundle: schema, hashes, and that its files agree.

    Example: `pathveil verify release`
    """
    from pathveil.cli.console import print_json, stdout_console
    from pathveil.release.bundle import verify_bundle

    release = verify_bundle(directory)
    certificate = release.certificate
    if json:
        print_json(
            {
                "valid": True,
                "status": certificate.status,
                "epsilon": str(release.parameters.budget),
                "released_trajectories": len(release),
            }
        )
        return
    console = stdout_console()
    console.print("The bundle is whole and unchanged.", style="bold green")
    console.print(
        f"{certificate.status}: ε = {release.parameters.budget}, {len(release):,} trajectories, "
        f"{release.parameters.universe_size:,} locations, height {release.parameters.height}.",
        highlight=False,
        style="bold red" if not release.is_private else None,
    )
