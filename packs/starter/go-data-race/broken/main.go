package main

import "sync"

func main() {
	var counter Counter
	var done sync.WaitGroup
	for i := 0; i < 100; i++ {
		done.Add(1)
		go func() { counter.Add(); done.Done() }()
	}
	done.Wait()
	println(counter.visits)
}
