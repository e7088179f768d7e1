package main

func main() {
	if sum := Squares([]int{1, 2, 3}); sum != 14 {
		panic(sum)
	}
	println("ok")
}
