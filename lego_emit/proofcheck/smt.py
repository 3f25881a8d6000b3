def prove(goal, given):
    return None
