package redistest

import (
	"errors"
	"os"
)

// A process cannot be stopped and continued here.
func freeze(*os.Process) error { return errors.ErrUnsupported }
func thaw(*os.Process) error   { return errors.ErrUnsupported }
