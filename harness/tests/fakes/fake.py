"""The program of a fake runner; what it does is in `behaviours`, whose byte code is kept."""

# pyright: basic

import sys

from behaviours import main  # pyright: ignore[reportMissingImports]

sys.exit(main())
