module example.com/visits

go 1.18
