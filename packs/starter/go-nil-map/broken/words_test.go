package words

import "testing"

func TestWordsAreCounted(t *testing.T) {
	if got := Count([]string{"a", "b", "a"})["a"]; got != 2 {
		t.Fatalf("a comes %d times", got)
	}
}
