package cli

import (
	"strings"
	"unicode/utf8"
)

// pattern filters bucket names. Without "*" or "?" it is a text that the name
// must contain. With one of them it must fit the whole name: "*" is any run of
// characters, "?" one character. Everything else stands for itself, brackets
// and braces too, since names are full of them; `\*`, `\?` and `\\` stand for
// the character itself.
type pattern struct {
	text  string
	glob  bool
	parts []part
}

// part is one element of a glob: a literal, or a wildcard.
type part struct {
	literal string
	one     bool // "?"
	any     bool // "*"
}

// newPattern reads a pattern; every text is one.
func newPattern(text string) pattern {
	p := pattern{}
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			p.parts = append(p.parts, part{literal: literal.String()})
			literal.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && strings.IndexByte(`*?\`, text[i+1]) >= 0:
			i++
			literal.WriteByte(text[i])
		case c == '*' || c == '?':
			flush()
			p.glob = true
			p.parts = append(p.parts, part{any: c == '*', one: c == '?'})
		default:
			literal.WriteByte(c)
		}
	}
	flush()
	if !p.glob && len(p.parts) == 1 {
		p.text = p.parts[0].literal
	}
	return p
}

// matches reports whether the name fits.
func (p pattern) matches(name string) bool {
	if !p.glob {
		return strings.Contains(name, p.text)
	}
	return fits(p.parts, name)
}

// fits goes back to the last "*" only, so a hostile pattern costs at most
// length times length.
func fits(parts []part, name string) bool {
	i, rest := 0, name
	star, starRest := -1, ""
	for {
		if i < len(parts) && parts[i].any {
			star, starRest = i, rest
			i++
			continue
		}
		if i == len(parts) && rest == "" {
			return true
		}
		if i < len(parts) {
			if next, ok := step(parts[i], rest); ok {
				i, rest = i+1, next
				continue
			}
		}
		if star < 0 || starRest == "" {
			return false
		}
		_, size := utf8.DecodeRuneInString(starRest)
		starRest = starRest[size:]
		i, rest = star+1, starRest
	}
}

// step takes what one part matches from the front of rest.
func step(p part, rest string) (next string, ok bool) {
	if p.one {
		_, size := utf8.DecodeRuneInString(rest)
		return rest[size:], size > 0
	}
	return strings.CutPrefix(rest, p.literal)
}
