package main

import (
	"slices"
	"testing"

	"bucketop/internal/bench/trial"
)

func TestEveryRoundMeasuresAllPeersOneAfterTheOther(t *testing.T) {
	p, err := parsePlan([]string{"--only", "bucketctl,redis_rate,return", "--goroutines", "16,1", "--processes", "1,2,4", "--rounds", "2"})
	if err != nil {
		t.Fatal(err)
	}
	type step struct {
		setting trial.Setting
		shape   trial.Shape
		peer    string
	}
	var got []step
	for _, trial := range p.trials() {
		got = append(got, step{trial.Setting, trial.Shape, trial.Peer.Name})
	}
	var want []step
	for _, order := range [][]string{{"bucketctl", "redis_rate", "return 1"}, {"redis_rate", "return 1", "bucketctl"}} {
		for _, shape := range []trial.Shape{{Processes: 1, Goroutines: 1}, {Processes: 1, Goroutines: 16}, {Processes: 2, Goroutines: 16}, {Processes: 4, Goroutines: 16}} {
			for _, name := range order {
				want = append(want, step{trial.Plenty, shape, name})
			}
		}
	}
	for _, shape := range []trial.Shape{{Processes: 1, Goroutines: 16}, {Processes: 4, Goroutines: 16}} {
		for _, name := range []string{"bucketctl", "redis_rate"} {
			want = append(want, step{trial.Short, shape, name})
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}

func TestPlansThatCantBe(t *testing.T) {
	for _, args := range [][]string{
		{"--only", "nobody"},
		{"--goroutines", "0"},
		{"--processes", ""},
		{"--rounds", "0", "--short-rounds", "0"},
		{"--for", "0s"},
		{"more"},
	} {
		if _, err := parsePlan(args); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
