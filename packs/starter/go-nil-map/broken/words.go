package words

// Count tells how often each word comes.
func Count(words []string) map[string]int {
	var counts map[string]int
	for _, word := range words {
		counts[word]++
	}
	return counts
}
