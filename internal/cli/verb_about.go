package cli

import (
	"context"
	"runtime"
)

func runVersion(_ context.Context, c *call) error {
	v := jsonVersion{Version: c.env.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if !c.out.isJSON() && c.out.format != formatTSV {
		return c.out.write("bucketop " + v.Version + " " + v.Go + " " + v.OS + "/" + v.Arch + "\n")
	}
	return c.out.one(v, table{
		header: []string{"VERSION", "GO", "OS", "ARCH"},
		rows:   [][]string{{v.Version, v.Go, v.OS, v.Arch}},
	})
}

func runHelp(_ context.Context, c *call) error {
	if len(c.args) == 0 {
		return c.helpOn(verb{})
	}
	v, err := verbNamed(c.args[0])
	if err != nil {
		return err
	}
	return c.helpOn(v)
}
