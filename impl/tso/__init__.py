"""The timestamp oracle: one leader hands out hybrid timestamps within a window that is saved ahead."""
