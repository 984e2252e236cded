OBJECTIVES: tuple[str, ...]
