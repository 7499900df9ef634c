package textsafe

import "slices"

// apartLeast is how many cells it takes to tell two texts apart: less has not room
// for a start and for what differs.
const apartLeast = 6

// Apart is Middle for texts that are shown below each other: where texts that
// differ would look the same, they are cut at another place, so that what they
// begin to differ with stays, at several places where it has to be. It takes and
// returns one text for each line; equal texts stay equal. Each must be the result
// of Escape.
//
// Two texts are always told apart. Many that differ at more places than there is
// room for may still look alike, as may any in less than 6 cells.
func Apart(texts []string, width int, mark string) []string {
	c := cutter{texts: texts, mark: mark, from: make([]int, len(texts)), shown: make([]string, len(texts))}
	lines := make([]int, len(texts))
	for i := range lines {
		lines[i] = i
	}
	c.cut(lines, width)
	return c.shown
}

// cutter cuts texts, one for each line.
type cutter struct {
	texts []string
	mark  string
	from  []int    // the byte of each text from where it is cut at present
	shown []string // what each became from there on
}

// cut shows these lines, each from its byte, in width cells. All of them begin
// there with the same byte behind the same text.
func (c *cutter) cut(lines []int, width int) {
	groups := make(map[int]int, len(lines)) // line -> its group, which is cut at one place: the first line in it
	of := make(map[string]int, len(lines))
	for _, i := range lines {
		rest := c.texts[i][c.from[i]:]
		if _, known := of[rest]; !known {
			of[rest] = i
		}
		groups[i] = of[rest]
		c.shown[i] = Middle(rest, width, c.mark)
	}
	for width >= apartLeast {
		changed := c.joinAlike(lines, groups)
		if len(changed) == 0 {
			return
		}
		for group := range changed {
			members := slices.DeleteFunc(slices.Clone(lines), func(i int) bool { return groups[i] != group })
			c.cutAt(members, c.differAt(members), width)
		}
	}
}

// joinAlike makes one group of those that look alike, and returns the groups that
// grew. Groups never fall apart again, so that in the end there are none.
func (c *cutter) joinAlike(lines []int, groups map[int]int) map[int]bool {
	grown := map[int]bool{}
	of := make(map[string]int, len(lines))
	for _, i := range lines {
		first, known := of[c.shown[i]]
		if !known {
			of[c.shown[i]] = i
			continue
		}
		into, from := groups[first], groups[i]
		if into == from {
			continue
		}
		for _, other := range lines {
			if groups[other] == from {
				groups[other] = into
			}
		}
		delete(grown, from)
		grown[into] = true
	}
	return grown
}

// cutAt shows these lines as what they begin with, mark, and what follows from the
// byte where they begin to differ.
func (c *cutter) cutAt(lines []int, differ, width int) {
	from := c.from[lines[0]]
	room := width - cells(c.mark)
	var long []int // without those that are shown whole, and look like another's cut
	for _, i := range lines {
		if cells(c.texts[i][from:]) > width {
			long = append(long, i)
			c.from[i] = differ
		}
	}
	c.cut(long, room-room/3) // what comes before tells the family
	for _, i := range long {
		common := c.texts[i][from:differ]
		start := firstCells(common, room-cells(c.shown[i]))
		if start != common {
			start += c.mark
		}
		c.shown[i] = start + c.shown[i]
		c.from[i] = from
	}
}

// differAt is the byte, of a whole rune, where the texts of these lines begin to
// differ.
func (c *cutter) differAt(lines []int) int {
	first := c.texts[lines[0]]
	common := len(first)
	for _, i := range lines[1:] {
		other := c.texts[i]
		if other == first {
			continue
		}
		at := 0
		for at < min(common, len(other)) && other[at] == first[at] {
			at++
		}
		common = at
	}
	for common > 0 && common < len(first) && first[common]&0xc0 == 0x80 {
		common--
	}
	return common
}
