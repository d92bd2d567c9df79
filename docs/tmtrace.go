//go:build tidemark

// Package tmtrace writes the steps of a program for `tidemark evidence`. Copy it to pkg/util/tmtrace, with a
// twin behind `//go:build !tidemark` whose functions are empty. Calls stand where docs/traces.md says.
package tmtrace

import (
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
	mu           sync.Mutex
	node         string
	seq, dropped uint64
	queue        chan line
	done         = make(chan struct{})
	started      = time.Now()
)

// Start opens the file of this process. begin is the first line, as docs/traces.md has it.
func Start(path, nodeName, begin string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	node, queue = nodeName, make(chan line, 1<<16)
	go func(steps <-chan line) {
		defer func() { file.Close(); close(done) }()
		file.WriteString(begin + "\n")
		for one := range steps { // each line is written at once: it survives a kill
			text, _ := json.Marshal(one)
			file.Write(append(text, '\n'))
		}
	}(queue)
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

// Stop returns when all is in the file. Steps after it are not written. Call it once, after Start.
func Stop() {
	mu.Lock()
	defer mu.Unlock()
	if dropped > 0 { // no later step says it
		queue <- line{Node: node, Seq: seq, Dropped: dropped}
	}
	close(queue)
	queue = nil
	<-done
}
