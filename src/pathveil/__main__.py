"""``python -m pathveil``."""

from pathveil.cli import main

if __name__ == "__main__":
    main()
