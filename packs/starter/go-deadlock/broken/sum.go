package main

// Squares adds up the squares of numbers, which a goroutine calculates.
func Squares(numbers []int) (sum int) {
	squares := make(chan int)
	go func() {
		for _, number := range numbers {
			squares <- number * number
		}
	}()
	for square := range squares {
		sum += square
	}
	return sum
}
