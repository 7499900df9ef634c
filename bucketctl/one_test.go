package bucketctl

import "time"

// takeArguments are the take script's arguments for one request, without
// patience (0) or with any amount of it.
func takeArguments(l Limit, gen int64, horizon time.Duration, n float64, patience int64) []any {
	r := &request{n: n, allow: patience == 0}
	d := scriptLimitOf(l)
	return appendTake(append(d[:], gen), horizon, 0, []*request{r}, time.Time{})
}

// decodeOne decodes take's reply for one request of takeArguments.
func decodeOne(r reply, args []any) (verdict, error) {
	verdicts, err := decodeTake(r, args, 1, nil)
	if err != nil {
		return verdict{}, err
	}
	return verdicts[0], nil
}
