// Package main_test holds the rules of the whole tree, which would drift if they
// were only written down: who imports whom, what lies at the top, how long a
// file may get, and what no file may say.
package main_test

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"net/url"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const module = "bucketop"

// floors orders the packages: each may import what stands on a lower floor, and
// nothing on its own. A package that is missing here has no place yet.
var floors = map[string]int{
	"lua":                0,
	"internal/schema":    0,
	"internal/textsafe":  0,
	"internal/noprobe":   0,
	"internal/redistest": 0,
	"internal/ptytest":   0,
	"bucketctl":          1,
	"bucketctl/prom":     2,
	"internal/watch":     2,
	"internal/conn":      2,
	"ui":                 3,
	"internal/cli":       3,
	"internal/demo":      3,
	"":                   4, // main
}

// testOnly are the packages that no program may import.
var testOnly = []string{"internal/redistest", "internal/ptytest"}

// forbidden names what a package must not even link, by prefixes of import
// paths; what allowed names is exempt.
var forbidden = []struct {
	pkg     string
	prefix  []string
	allowed []string
}{
	{"lua", []string{"."}, nil}, // only the standard library
	{"bucketctl", []string{
		"github.com/charmbracelet", "github.com/spf13/pflag", "github.com/prometheus", "github.com/alicebob",
		module + "/internal", module + "/ui",
	}, []string{module + "/internal/schema"}},
	{"", []string{"github.com/prometheus"}, nil}, // only who imports bucketctl/prom does
	{"internal/watch", drawing, nil},
	{"internal/cli", drawing, nil},
	{"internal/textsafe", drawing, nil},
}

// drawing is what turns text into screens. x/ansi, which measures text, is not
// among it.
var drawing = []string{
	"github.com/charmbracelet/bubbletea", "github.com/charmbracelet/bubbles", "github.com/charmbracelet/lipgloss",
}

// goPackage is what go list says about one package of this module.
type goPackage struct {
	path          string // below the module; "" for main
	doc           string
	files         []string
	imports, deps []string
}

// packages lists the module for this system, broken packages included.
func packages(t *testing.T) []goPackage {
	t.Helper()
	const format = `{{.ImportPath}}|{{.Doc}}|{{join .GoFiles ","}}|{{join .Imports ","}}|{{join .Deps ","}}`
	var all []goPackage
	for _, line := range lines(output(t, "go", "list", "-e", "-f", format, "./...")) {
		field := strings.Split(line, "|")
		all = append(all, goPackage{
			path:    strings.TrimPrefix(strings.TrimPrefix(field[0], module), "/"),
			doc:     strings.Join(field[1:len(field)-3], "|"), // prose may hold anything
			files:   list(field[len(field)-3]),
			imports: list(field[len(field)-2]),
			deps:    list(field[len(field)-1]),
		})
	}
	if len(all) == 0 {
		t.Fatal("go list knows no package")
	}
	return all
}

func TestImportsPointOneWay(t *testing.T) {
	for _, pkg := range packages(t) {
		floor, known := floors[pkg.path]
		if !known {
			t.Errorf("%s has no place in the layout: give it a floor", pkg.path)
			continue
		}
		for _, imported := range pkg.imports {
			below, ours := strings.CutPrefix(imported, module+"/")
			if ours && floors[below] >= floor {
				t.Errorf("%s imports %s, which is not below it", cmp.Or(pkg.path, "main"), below)
			}
			if ours && slices.Contains(testOnly, below) {
				t.Errorf("%s imports %s, which is for tests only", cmp.Or(pkg.path, "main"), below)
			}
		}
	}
}

func TestNobodyLinksWhatItMustNot(t *testing.T) {
	all := packages(t)
	for _, rule := range forbidden {
		i := slices.IndexFunc(all, func(p goPackage) bool { return p.path == rule.pkg })
		if i < 0 {
			t.Errorf("%s does not exist, so its rule guards nothing", rule.pkg)
			continue
		}
		for _, dep := range all[i].deps {
			if linksForbidden(dep, rule.prefix) && !slices.Contains(rule.allowed, dep) {
				t.Errorf("%s links %s", rule.pkg, dep)
			}
		}
	}
}

// linksForbidden reports whether a prefix covers the path; "." covers all that
// has a domain's dot, and this module.
func linksForbidden(dep string, prefixes []string) bool {
	first, _, _ := strings.Cut(dep, "/")
	return slices.ContainsFunc(prefixes, func(prefix string) bool {
		if prefix == "." {
			return strings.Contains(first, ".") || first == module
		}
		return dep == prefix || strings.HasPrefix(dep, prefix+"/")
	})
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, pkg := range packages(t) {
		if len(pkg.files) > 0 && pkg.doc == "" {
			t.Errorf("%s has no package comment", cmp.Or(pkg.path, "main"))
		}
	}
}

func TestTopLevelIsFixed(t *testing.T) {
	fixed := []string{"LICENSE", "README.md", "bucketctl", "go.mod", "go.sum", "internal", "lua", "main.go", "ui"}
	for _, file := range tracked(t) {
		top, _, _ := strings.Cut(file, "/")
		isTest := strings.HasSuffix(file, "_test.go")
		if !slices.Contains(fixed, top) && !strings.HasPrefix(top, ".") && !isTest {
			t.Errorf("%s: the top level has no %s", file, top)
		}
	}
}

func TestFilesStayReadable(t *testing.T) {
	const most = 400
	for _, file := range tracked(t, ".go", ".lua") {
		if n := bytes.Count(read(t, file), []byte("\n")); n > most {
			t.Errorf("%s has %d lines, more than %d: split it by subject", file, n, most)
		}
	}
}

// TestNothingIsSkipped: a machine without Redis fails, it does not pass.
func TestNothingIsSkipped(t *testing.T) {
	for _, file := range tracked(t, ".go") {
		files := token.NewFileSet()
		tree, err := parser.ParseFile(files, file, read(t, file), parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("parsing: %v", err)
			continue
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isSkip(call) {
				t.Errorf("%s: nothing is skipped here", files.Position(call.Pos()))
			}
			return true
		})
	}
}

// isSkip knows t.Skip, its variants, and testing.Short.
func isSkip(call *ast.CallExpr) bool {
	called, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, _ := called.X.(*ast.Ident)
	switch called.Sel.Name {
	case "Skip", "Skipf", "SkipNow":
		return true
	case "Short":
		return of != nil && of.Name == "testing"
	}
	return false
}

// someonesPath matches an absolute path below the folders in which people keep
// checkouts, which no other machine has.
var someonesPath = regexp.MustCompile("(^|[\\s\"'`=(:,])/(work|root|farm|home|Users)/")

func TestFilesNameNoMachine(t *testing.T) {
	proxies := proxyHosts(t)
	for _, file := range tracked(t) {
		text := read(t, file)
		if !utf8.Valid(text) {
			continue // a picture
		}
		for i, line := range strings.Split(string(text), "\n") {
			if found := someonesPath.FindString(line); found != "" {
				t.Errorf("%s:%d: %q is a path of one machine", file, i+1, found)
			}
			for _, host := range proxies {
				if strings.Contains(line, host) {
					t.Errorf("%s:%d: %s is where this machine gets modules", file, i+1, host)
				}
			}
		}
	}
}

// proxyHosts are the hosts of GOPROXY as this machine has it.
func proxyHosts(t *testing.T) []string {
	t.Helper()
	var hosts []string
	for _, proxy := range strings.FieldsFunc(strings.TrimSpace(output(t, "go", "env", "GOPROXY")), func(r rune) bool { return r == ',' || r == '|' }) {
		if u, err := url.Parse(proxy); err == nil && u.Hostname() != "" {
			hosts = append(hosts, u.Hostname())
		}
	}
	return hosts
}

// tracked lists the files that git knows and that exist, those with one of the
// extensions if any are given.
func tracked(t *testing.T, extensions ...string) []string {
	t.Helper()
	// A clone may belong to another user than the one who tests it.
	names := strings.Split(output(t, "git", "-c", "safe.directory=*", "ls-files", "-z"), "\x00")
	names = slices.DeleteFunc(names, func(name string) bool {
		if name == "" || len(extensions) > 0 && !slices.Contains(extensions, path.Ext(name)) {
			return true
		}
		info, err := os.Lstat(name)
		return err != nil || !info.Mode().IsRegular()
	})
	if len(names) == 0 {
		t.Fatalf("git knows no %v files", extensions)
	}
	return names
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, &stderr)
	}
	return string(out)
}

func lines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}
