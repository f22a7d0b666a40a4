// Truth for Go from go/parser: one line of JSON in ({path, text}), one out; see read_outside.py.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strconv"
	"strings"
)

type request struct{ Path, Text string }

type answer struct {
	Symbols [][]interface{} `json:"symbols"`
	Trouble string          `json:"trouble"`
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:20]
}

// Positions that mean something only by being there.
var meant = map[string]bool{"CallExpr.Ellipsis": true, "TypeSpec.Assign": true, "ChanType.Arrow": false}

func literal(lit *ast.BasicLit) string {
	switch lit.Kind {
	case token.STRING, token.CHAR:
		if value, err := strconv.Unquote(lit.Value); err == nil {
			return lit.Kind.String() + strconv.Quote(value)
		}
	case token.INT, token.FLOAT, token.IMAG:
		return strings.ToLower(lit.Value)
	}
	return lit.Value
}

func dump(value reflect.Value, own string, out *strings.Builder) {
	switch value.Kind() {
	case reflect.Interface, reflect.Ptr:
		if value.IsNil() {
			out.WriteString("nil ")
			return
		}
		switch node := value.Interface().(type) {
		case *ast.ParenExpr:
			dump(reflect.ValueOf(node.X), own, out)
			return
		case *ast.BasicLit:
			out.WriteString("lit:" + literal(node) + " ")
			return
		case *ast.Ident:
			name := node.Name
			if own != "" && name == own {
				name = "\u00b7"
			}
			out.WriteString("id:" + name + " ")
			return
		case *ast.SelectorExpr:
			out.WriteString("(Selector ")
			dump(reflect.ValueOf(node.X), own, out)
			out.WriteString(node.Sel.Name + ")")
			return
		case *ast.CommentGroup, *ast.Object, *ast.Scope:
			return
		}
		dump(value.Elem(), own, out)
	case reflect.Struct:
		kind := value.Type().Name()
		out.WriteString("(" + kind + " ")
		for i := 0; i < value.NumField(); i++ {
			field := value.Type().Field(i)
			if field.Type == reflect.TypeOf(token.NoPos) {
				if meant[kind+"."+field.Name] {
					fmt.Fprintf(out, "%s=%v ", field.Name, value.Field(i).Int() != 0)
				}
				continue
			}
			switch field.Name {
			case "Doc", "Comment", "Obj", "Scope", "Incomplete", "Implicit":
				continue
			}
			out.WriteString(field.Name + ":")
			dump(value.Field(i), own, out)
		}
		out.WriteString(")")
	case reflect.Slice:
		out.WriteString("[")
		for i := 0; i < value.Len(); i++ {
			if _, empty := value.Index(i).Interface().(*ast.EmptyStmt); empty {
				continue
			}
			dump(value.Index(i), own, out)
		}
		out.WriteString("]")
	default:
		fmt.Fprintf(out, "%v ", value.Interface())
	}
}

func text(prefix string, node interface{}, own string) string {
	var out strings.Builder
	out.WriteString(prefix)
	dump(reflect.ValueOf(node), own, &out)
	return out.String()
}

func receiver(expr ast.Expr) string {
	switch node := expr.(type) {
	case *ast.StarExpr:
		return receiver(node.X)
	case *ast.ParenExpr:
		return receiver(node.X)
	case *ast.IndexExpr:
		return receiver(node.X)
	case *ast.IndexListExpr:
		return receiver(node.X)
	case *ast.Ident:
		return node.Name
	}
	return ""
}

func symbols(set *token.FileSet, file *ast.File) [][]interface{} {
	found := [][]interface{}{}
	add := func(name, own, kind, prefix string, node ast.Node, from, to token.Pos) {
		found = append(found, []interface{}{name, kind, set.Position(from).Line, set.Position(to).Line,
			digest(text(prefix, node, "")), digest(text(prefix, node, own))})
	}
	for _, declared := range file.Decls {
		switch node := declared.(type) {
		case *ast.FuncDecl:
			name, kind := node.Name.Name, "function"
			if node.Recv != nil && len(node.Recv.List) == 1 {
				kind = "method"
				if of := receiver(node.Recv.List[0].Type); of != "" {
					name = of + "." + name
				}
			}
			add(name, node.Name.Name, kind, "", node, node.Pos(), node.End())
		case *ast.GenDecl:
			for _, spec := range node.Specs {
				from, to := spec.Pos(), spec.End()
				if !node.Lparen.IsValid() {
					from, to = node.Pos(), node.End()
				}
				switch one := spec.(type) {
				case *ast.TypeSpec:
					add(one.Name.Name, one.Name.Name, "type", "type", one, from, to)
				case *ast.ValueSpec:
					for _, name := range one.Names {
						if name.Name != "_" {
							add(name.Name, name.Name, "const", node.Tok.String(), one, from, to)
						}
					}
				}
			}
		}
	}
	return found
}

func read(asked request) answer {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "file.go", asked.Text, parser.SkipObjectResolution)
	if err != nil {
		return answer{[][]interface{}{}, err.Error()}
	}
	return answer{symbols(set, file), ""}
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	for {
		row, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked request
		if json.Unmarshal(row, &asked) != nil {
			return
		}
		written, _ := json.Marshal(read(asked))
		out.Write(append(written, '\n'))
		out.Flush()
	}
}
