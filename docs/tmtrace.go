//go:build tidemark

// Package tmtrace writes the steps of a program, one JSON object a line, for `tidemark evidence`.
// Copy it to pkg/util/tmtrace, and a twin with `//go:build !tidemark` whose functions are empty.
// Each call stands inside the critical section that makes the step.
package tmtrace

import (
	"bufio"
	"encoding/json"
	"os"
	"sync"
	"time"
)

// Args are parameters of the action; See is what the step leaves behind, by variable or variable[key].
type Args map[string]any
type See map[string]any

type line struct {
	Node    string `json:"n"`
	Seq     uint64 `json:"s"`
	Action  string `json:"a,omitempty"`
	Time    int64  `json:"t,omitempty"`
	Channel string `json:"k,omitempty"`
	Ts      uint64 `json:"ts,omitempty"`
	Args    Args   `json:"args,omitempty"`
	See     See    `json:"see,omitempty"`
	Dropped uint64 `json:"dropped,omitempty"`
}

var (
	mu      sync.Mutex
	node    string
	seq     uint64
	dropped uint64
	queue   chan line
	done    chan struct{}
	started = time.Now()
)

// Start opens the file of this process. begin is the first line, as docs/traces.md has it.
func Start(path, nodeName, begin string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	node, queue, done = nodeName, make(chan line, 1<<16), make(chan struct{})
	go func() {
		out := bufio.NewWriter(file)
		out.WriteString(begin + "\n")
		for one := range queue {
			text, _ := json.Marshal(one)
			out.Write(append(text, '\n'))
			if len(queue) == 0 {
				out.Flush() // whatever was written survives a kill
			}
		}
		out.Flush()
		file.Close()
		close(done)
	}()
	return nil
}

// Emit never blocks: a step that does not fit is dropped, and the next one says how many were.
func Emit(action, channel string, ts uint64, args Args, see See) {
	mu.Lock()
	defer mu.Unlock()
	one := line{node, seq, action, int64(time.Since(started)), channel, ts, args, see, dropped}
	seq++ // a step that is dropped leaves a gap
	select {
	case queue <- one:
		dropped = 0
	default:
		dropped++
	}
}

func Stop() { close(queue); <-done }
