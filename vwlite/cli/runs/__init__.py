"""What each command does once its options are parsed: a module each, imported when the command is called."""
