"""The self-test: equal processes and a slower one in either scheme, what they say of the method."""
