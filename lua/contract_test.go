package lua_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bucketop/lua"
)

// header is what the comment at the top of a script promises.
type header struct {
	name, does string
	keys, argv []int    // positions
	open       int      // the position from which ARGV is a list, or 0
	openKeys   int      // the same of KEYS
	writes     []string // fields
}

// script is one .lua file: its header, and the code below it.
type script struct {
	file, code string
	header
}

const sharedFile = "shared.lua, record.lua, window.lua, turns.lua and serve.lua"

var sections = []string{"KEYS", "ARGV", "REPLY", "WRITES"}

// scriptFiles reads every .lua file; shared.lua and the like, which are put
// in front of scripts, come as their code alone, and plain.lua as a part of
// take.lua's.
func scriptFiles(t *testing.T) (scripts []script, shared string) {
	t.Helper()
	files, err := filepath.Glob("*.lua")
	if err != nil || len(files) < 2 {
		t.Fatalf("looking for scripts: %v, %v", files, err)
	}
	inFront := map[string]string{} // of a script's own code
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		top, code := split(string(text))
		switch file {
		case "reads.lua", "log.lua", "shared.lua", "record.lua", "window.lua", "window_edit.lua", "plain.lua", "turns.lua", "serve.lua":
			shared += code
			continue
		case "plain_take.lua":
			inFront["take.lua"] = code
			continue
		case "plain_window.lua":
			inFront["window_take.lua"] = code
			continue
		case "plain_all.lua":
			inFront["take_all.lua"] = code
			continue
		}
		scripts = append(scripts, script{file: file, code: inFront[file] + code, header: parseHeader(t, file, top)})
	}
	return scripts, shared
}

// split parts the leading comment from the code, and takes comments out of the
// code.
func split(text string) (top []string, code string) {
	lines := strings.Split(text, "\n")
	for len(lines) > 0 && strings.HasPrefix(lines[0], "--") {
		top = append(top, strings.TrimPrefix(strings.TrimPrefix(lines[0], "--"), " "))
		lines = lines[1:]
	}
	comment := regexp.MustCompile(`--.*`)
	for i, line := range lines {
		lines[i] = comment.ReplaceAllString(line, "")
	}
	return top, strings.Join(lines, "\n")
}

func parseHeader(t *testing.T, file string, top []string) header {
	t.Helper()
	name, does, ok := strings.Cut(top[0], ": ")
	if !ok || name+".lua" != file || !strings.HasSuffix(does, ".") {
		t.Errorf("%s begins with %q, want %q", file, top[0], name+": what it does.")
	}
	h := header{name: name, does: does}
	parts := map[string][]string{}
	var order []string
	for _, line := range top[1:] {
		if slices.Contains(sections, line) {
			order = append(order, line)
		} else if len(order) > 0 {
			last := order[len(order)-1]
			parts[last] = append(parts[last], line)
		}
	}
	if !slices.Equal(order, sections) {
		t.Errorf("%s has the sections %v, want %v", file, order, sections)
	}
	h.keys, h.openKeys = positions(parts["KEYS"])
	h.argv, h.open = positions(parts["ARGV"])
	reply, _ := positions(parts["REPLY"])
	for what, list := range map[string][]int{"KEYS": h.keys, "ARGV": h.argv, "REPLY": reply} {
		for i, position := range list {
			if position != i+1 {
				t.Errorf("%s: %s counts %v, want 1, 2, 3…", file, what, list)
				break
			}
		}
	}
	h.writes = regexp.MustCompile(`[a-z_]+`).FindAllString(strings.Join(parts["WRITES"], " "), -1)
	return h
}

// positions returns the numbers that a section's entries begin with; several
// may share a line, and "7…" is an open list.
func positions(lines []string) (list []int, open int) {
	for _, m := range regexp.MustCompile(`(?m)(?:^  |, )(\d+)(…?) `).FindAllStringSubmatch(strings.Join(lines, "\n"), -1) {
		n, _ := strconv.Atoi(m[1])
		list = append(list, n)
		if m[2] != "" {
			open = n
		}
	}
	return list, open
}

// indexes returns which entries of KEYS or ARGV the code uses by number.
func indexes(code, table string) []int {
	used := map[int]bool{}
	for _, m := range regexp.MustCompile(table+`\[(\d+)\]`).FindAllStringSubmatch(code, -1) {
		n, _ := strconv.Atoi(m[1])
		used[n] = true
	}
	return slices.Sorted(maps.Keys(used))
}

func TestHeadersNameWhatTheCodeUses(t *testing.T) {
	scripts, shared := scriptFiles(t)
	if strings.Contains(shared, "KEYS[") || strings.Contains(shared, "ARGV[") {
		t.Error("shared.lua uses KEYS or ARGV; its functions take what they need")
	}
	for _, s := range scripts {
		keys := s.keys
		if s.openKeys > 0 {
			keys = keys[:s.openKeys-1]
			if !strings.Contains(s.code, "#KEYS") {
				t.Errorf("%s: its header has an open list of keys, the code counts none", s.file)
			}
		}
		if used := indexes(s.code, "KEYS"); !slices.Equal(used, keys) {
			t.Errorf("%s uses KEYS %v, its header names %v", s.file, used, s.keys)
		}
		named := s.argv
		if s.open > 0 {
			named = named[:s.open-1]
			if !strings.Contains(s.code, "for i = "+strconv.Itoa(s.open)+", #ARGV do") && !strings.Contains(s.code, "for i = first_request, #ARGV do") {
				t.Errorf("%s: its header has an open list from %d, the code reads none", s.file, s.open)
			}
		}
		used := indexes(s.code, "ARGV")
		unused := slices.DeleteFunc(slices.Clone(named), func(n int) bool { return slices.Contains(used, n) })
		if len(unused) > 0 || len(used) > 0 && used[len(used)-1] > len(named) {
			t.Errorf("%s uses ARGV %v, its header names %v", s.file, used, named)
		}
	}
}

// No script touches a key that is not in KEYS: names are never built.
func TestScriptsTouchDeclaredKeysOnly(t *testing.T) {
	scripts, shared := scriptFiles(t)
	key := regexp.MustCompile(`redis\.p?call\(\s*'[A-Z]+'\s*,\s*([^,)]+)`)
	allowed := []string{"KEYS[1]", "KEYS[2]", "KEYS[3]", "bucket", "limit", "s.bucket", "s.log", "log", "key"}
	for _, s := range append(scripts, script{file: sharedFile, code: shared}) {
		for _, m := range key.FindAllStringSubmatch(s.code, -1) {
			if !slices.Contains(allowed, strings.TrimSpace(m[1])) {
				t.Errorf("%s: %s… touches a key that is none of %v", s.file, m[0], allowed)
			}
		}
	}
}

// commands is every command that the scripts call: what a worker's and an
// operator's ACL has to allow besides EVALSHA and EVAL.
var commands = []string{
	"DEL", "HDEL", "HGET", "HGETALL", "HLEN", "HMGET", "HSET", "PERSIST", "PEXPIRE", "PEXPIREAT", "PTTL", "TIME", "TYPE",
	"ZADD", "ZCARD", "ZRANGE", "ZRANGEBYSCORE", "ZREM", "ZREMRANGEBYSCORE", "ZSCORE",
}

func TestScriptsCallListedCommandsOnly(t *testing.T) {
	scripts, shared := scriptFiles(t)
	called := map[string]bool{}
	call := regexp.MustCompile(`redis\.p?call\(\s*(?:'([A-Z]+)')?`)
	for _, s := range append(scripts, script{file: sharedFile, code: shared}) {
		for _, m := range call.FindAllStringSubmatch(s.code, -1) {
			if m[1] == "" {
				t.Errorf("%s: %s… calls a command that is no literal", s.file, m[0])
				continue
			}
			called[m[1]] = true
		}
	}
	if got := slices.Sorted(maps.Keys(called)); !slices.Equal(got, commands) {
		t.Errorf("the scripts call %v, the list says %v", got, commands)
	}
}

// schemaFields reads the values of the Field constants of package schema.
func schemaFields(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "internal", "schema", "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Field") {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			t.Fatalf("schema.%s is no literal", spec.Names[0].Name)
		}
		value, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, value)
		return true
	})
	if len(fields) < 15 {
		t.Fatalf("schema.go names the fields %v, want more: does this test still read it rightly?", fields)
	}
	return fields
}

var quoted = regexp.MustCompile(`'([^']*)'`)

// isFormat tells the literals beside fields that are none.
func isFormat(literal string) bool { return strings.HasPrefix(literal, "%") }

// calls returns the calls of a command, each from its name to the closing
// parenthesis.
func calls(code, command string) []string {
	var out []string
	for _, part := range regexp.MustCompile(`redis\.p?call\('`+command+`', `).Split(code, -1)[1:] {
		open := 1
		end := strings.IndexFunc(part, func(r rune) bool {
			switch r {
			case '(':
				open++
			case ')':
				open--
			}
			return open == 0
		})
		out = append(out, part[:end])
	}
	return out
}

// hashFields returns the names of fields in calls of these commands.
func hashFields(code string, commands ...string) []string {
	var fields []string
	for _, command := range commands {
		for _, call := range calls(code, command) {
			for _, m := range quoted.FindAllStringSubmatch(call, -1) {
				if !isFormat(m[1]) {
					fields = append(fields, m[1])
				}
			}
		}
	}
	return fields
}

// written returns the fields that code writes: by HSET and HDEL, and by put,
// which fills the table of fields that are written.
func written(code string) []string {
	fields := hashFields(code, "HSET", "HDEL")
	for _, m := range regexp.MustCompile(`(?m)^.*\bput\('[^']*'`).FindAllString(code, -1) {
		for _, q := range quoted.FindAllStringSubmatch(m, -1) {
			if !isFormat(q[1]) {
				fields = append(fields, q[1])
			}
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

func TestFieldsAreThoseOfTheSchema(t *testing.T) {
	scripts, shared := scriptFiles(t)
	known := schemaFields(t)
	for _, s := range append(scripts, script{file: sharedFile, code: shared}) {
		used := append(written(s.code), hashFields(s.code, "HMGET", "HGET", "HEXISTS")...)
		for _, field := range used {
			if !slices.Contains(known, field) {
				t.Errorf("%s uses the field %q, which package schema does not name", s.file, field)
			}
		}
	}
}

func TestHeadersNameWhatTheCodeWrites(t *testing.T) {
	scripts, shared := scriptFiles(t)
	known := schemaFields(t)
	inShared := written(shared)
	for _, s := range scripts {
		own := written(s.code)
		for _, field := range own {
			if !slices.Contains(s.writes, field) {
				t.Errorf("%s writes %q, its header does not say so", s.file, field)
			}
		}
		saves := regexp.MustCompile(`\b(save|save_window|reset_window|refit)\(`).MatchString(s.code)
		for _, word := range s.writes {
			if slices.Contains(known, word) && !slices.Contains(own, word) && !(saves && slices.Contains(inShared, word)) {
				t.Errorf("%s: its header says that it writes %q, the code does not", s.file, word)
			}
		}
		if saves {
			for _, field := range []string{"tokens", "ts", "granted", "exp", "turn", "need", "first", "blocked", "blocked_by"} {
				if !slices.Contains(s.writes, field) {
					t.Errorf("%s saves the bucket, its header does not name %q", s.file, field)
				}
			}
		}
	}
}

// Every file is embedded, and nothing runs without what is shared.
func TestEveryScriptIsEmbedded(t *testing.T) {
	text := func(file string) string {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	all := map[string]string{
		"take": lua.Take(), "give": lua.Give(), "limit": lua.Limit(), "hold": lua.Hold(), "reset": lua.Reset(),
		"beat": lua.Beat(), "cool": lua.Cool(), "take_all": lua.TakeAll(),
		"window_take": lua.WindowTake(), "window_give": lua.WindowGive(), "window_cool": lua.WindowCool(),
	}
	scripts, _ := scriptFiles(t)
	if len(scripts) != len(all) {
		t.Errorf("%d scripts, %d of them tested", len(scripts), len(all))
	}
	for name, got := range all {
		if !strings.Contains(got, text("shared.lua")) || !strings.HasSuffix(got, text(name+".lua")) {
			t.Errorf("%s is not what the package returns, shared part first", name)
		}
	}
}
