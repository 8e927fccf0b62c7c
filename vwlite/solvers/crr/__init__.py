"""Combined regression and ranking."""
