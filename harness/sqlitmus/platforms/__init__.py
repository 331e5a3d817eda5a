"""What systems do differently, a concern per module; `docs/platforms.md` lists them all."""
