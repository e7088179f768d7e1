package main

// Counter counts visits of several goroutines.
type Counter struct {
	visits int64
}

// Add counts one visit.
func (c *Counter) Add() { c.visits++ }
