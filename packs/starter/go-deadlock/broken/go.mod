module example.com/sum

go 1.18
