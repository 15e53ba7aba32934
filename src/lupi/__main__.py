"""``python -m lupi`` is the command ``lupi``."""

from lupi.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
