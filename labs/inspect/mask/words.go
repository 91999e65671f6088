package mask

// words finds many fixed words in one pass over a text, whatever the case of
// their letters: an automaton of Aho and Corasick with all its steps written out.
type words struct {
	class [256]uint8 // letters of both cases are one; 0 is in no word
	width int
	next  []uint16 // by state and class
	found [][]int  // by state: which words end here, the longest first
	size  []int    // of each word
}

func newWords(all []string) *words {
	w := &words{width: 1}
	for _, word := range all {
		for i := range len(word) {
			if c := lower(word[i]); w.class[c] == 0 {
				w.class[c] = uint8(w.width)
				w.width++
			}
		}
		w.size = append(w.size, len(word))
	}
	for c := byte('a'); c <= 'z'; c++ {
		w.class[c-0x20] = w.class[c]
	}
	w.addState()
	for i, word := range all {
		w.add(word, i)
	}
	w.link()
	return w
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

func (w *words) addState() uint16 {
	w.next = append(w.next, make([]uint16, w.width)...)
	w.found = append(w.found, nil)
	return uint16(len(w.found) - 1)
}

func (w *words) add(word string, id int) {
	state := uint16(0)
	for i := range len(word) {
		step := int(state)*w.width + int(w.class[word[i]])
		if w.next[step] == 0 {
			added := w.addState()
			w.next[step] = added
		}
		state = w.next[step]
	}
	w.found[state] = append(w.found[state], id)
}

// link gives each state the steps of its longest true suffix.
func (w *words) link() {
	suffix := make([]uint16, len(w.found))
	var queue []uint16
	for c := range w.width {
		if s := w.next[c]; s != 0 {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		from := suffix[state]
		w.found[state] = append(w.found[state], w.found[from]...)
		for c := range w.width {
			step, other := int(state)*w.width+c, w.next[int(from)*w.width+c]
			if s := w.next[step]; s != 0 {
				suffix[s] = other
				queue = append(queue, s)
			} else {
				w.next[step] = other
			}
		}
	}
}

// each tells which word ends behind which byte.
func (w *words) each(text []byte, found func(word, from, to int)) {
	state := uint16(0)
	for i, c := range text {
		state = w.next[int(state)*w.width+int(w.class[c])]
		if state == 0 {
			continue
		}
		for _, id := range w.found[state] {
			found(id, i+1-w.size[id], i+1)
		}
	}
}
