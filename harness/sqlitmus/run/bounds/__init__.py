"""What the figures of a result can be, by what hyperfine and the machine say of the process."""
