// Reads values as a JSON array, and prints for each one what Go makes of it, by the name of the escaper.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"html/template"
	"mime"
	"mime/quotedprintable"
	"net/url"
	"os"
	"strconv"
)

// html/template escapes for the place in which a value stands.
var pages = map[string]string{
	"text":            `<p>{{.}}</p>`,
	"attribute":       `<p title="{{.}}">`,
	"bare attribute":  `<p title={{.}}>`,
	"query":           `<a href="/?key={{.}}">`,
	"path":            `<a href="/{{.}}">`,
	"script":          `<script>var key = {{.}}</script>`,
	"script string":   `<script>var key = '{{.}}'</script>`,
	"script template": "<script>var key = `{{.}}`</script>",
	"script pattern":  `<script>var key = /{{.}}/</script>`,
	"handler":         `<p onclick="show({{.}})">`,
	"handler string":  `<p onclick="show('{{.}}')">`,
	"handler query":   `<p onclick="open('/?key={{.}}')">`,
	"style string":    `<style>p { content: "{{.}}" }</style>`,
	"style URL":       `<style>p { background: url("/?key={{.}}") }</style>`,
	"style attribute": `<p style="content: '{{.}}'">`,
	"text area":       `<textarea>{{.}}</textarea>`,
	"JSON":            `<script type="application/json">{{.}}</script>`,
}

func main() {
	var values []string
	if err := json.NewDecoder(os.Stdin).Decode(&values); err != nil {
		panic(err)
	}
	templates := map[string]*template.Template{}
	for name, page := range pages {
		templates[name] = template.Must(template.New(name).Parse(page))
	}
	for _, value := range values {
		escaped := map[string]string{
			"html.EscapeString":          html.EscapeString(value),
			"template.HTMLEscapeString":  template.HTMLEscapeString(value),
			"template.JSEscapeString":    template.JSEscapeString(value),
			"url.QueryEscape":            url.QueryEscape(value),
			"url.QueryEscape, twice":     url.QueryEscape(url.QueryEscape(value)),
			"url.PathEscape":             url.PathEscape(value),
			"strconv.Quote":              strconv.Quote(value),
			"strconv.Quote, twice":       strconv.Quote(strconv.Quote(value)),
			"strconv.QuoteToASCII":       strconv.QuoteToASCII(value),
			"fmt %#v":                    fmt.Sprintf("%#v", map[string]string{"key": value}),
			"fmt %x":                     fmt.Sprintf("%x", value),
			"fmt %X":                     fmt.Sprintf("%X", value),
			"mime.QEncoding":             mime.QEncoding.Encode("utf-8", value),
			"base64.RawURLEncoding":      base64.RawURLEncoding.EncodeToString([]byte(value)),
			"base64.StdEncoding, twice":  base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(value)))),
			"base64 of json.Marshal":    base64.RawURLEncoding.EncodeToString([]byte(marshal(map[string]string{"key": value}))),
			"json.Marshal":               marshal(value),
			"json.Marshal of JSON":       marshal(marshal(value)),
			"html.EscapeString of JSON":  html.EscapeString(marshal(value)),
			"url.QueryEscape of JSON":    url.QueryEscape(marshal(value)),
		}
		var text bytes.Buffer
		xml.EscapeText(&text, []byte(value))
		escaped["xml.EscapeText"] = text.String()
		text.Reset()
		table := csv.NewWriter(&text)
		table.Write([]string{value})
		table.Flush()
		escaped["csv"] = text.String()
		text.Reset()
		printable := quotedprintable.NewWriter(&text)
		printable.Write([]byte(value))
		printable.Close()
		escaped["quotedprintable"] = text.String()
		for name, page := range templates {
			text.Reset()
			if err := page.Execute(&text, value); err != nil {
				panic(err)
			}
			escaped["html/template, "+name] = text.String()
		}
		fmt.Println(marshal(escaped))
	}
}

func marshal(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}
