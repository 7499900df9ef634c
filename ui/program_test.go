package ui

const childVariable = "BUCKETOP_UI_CHILD"

func runChild(string) int { return 1 }
