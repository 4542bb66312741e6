package provider

import (
	"context"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

var update = flag.Bool("update", false, "write the attributes into the pages of the documentation")

// described is an attribute of a resource or a data source.
type described interface {
	GetMarkdownDescription() string
	GetType() attr.Type
	IsRequired() bool
	IsOptional() bool
	IsSensitive() bool
	IsWriteOnly() bool
}

func TestDocumentsEveryAttribute(t *testing.T) {
	for page, attributes := range documented(t.Context()) {
		file := "../../docs/" + page + ".md"
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		before, _, _ := strings.Cut(string(text), "\n## Attributes\n")
		_, after, hasAfter := strings.Cut(string(text), "\n## Import\n")
		if hasAfter {
			after = "\n## Import\n" + after
		}
		want := before + "\n## Attributes\n" + listed(attributes) + after
		if *update {
			err = os.WriteFile(file, []byte(want), 0o644)
		} else if want != string(text) {
			t.Errorf("%s differs. Run: go test ./internal/provider -run Documents -update", page)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// documented returns the attributes of each page.
func documented(ctx context.Context) map[string]map[string]described {
	pages := map[string]map[string]described{}
	one := &belfryProvider{}
	for _, open := range one.Resources(ctx) {
		var meta resource.MetadataResponse
		var declared resource.SchemaResponse
		made := open()
		made.Metadata(ctx, resource.MetadataRequest{}, &meta)
		made.Schema(ctx, resource.SchemaRequest{}, &declared)
		pages["resources/"+strings.TrimPrefix(meta.TypeName, "belfry_")] = all(declared.Schema.Attributes)
	}
	for _, open := range one.DataSources(ctx) {
		var meta datasource.MetadataResponse
		var declared datasource.SchemaResponse
		made := open()
		made.Metadata(ctx, datasource.MetadataRequest{}, &meta)
		made.Schema(ctx, datasource.SchemaRequest{}, &declared)
		pages["data-sources/"+strings.TrimPrefix(meta.TypeName, "belfry_")] = all(declared.Schema.Attributes)
	}
	return pages
}

func all[A described](attributes map[string]A) map[string]described {
	wide := map[string]described{}
	for name, one := range attributes {
		wide[name] = one
	}
	return wide
}

// listed returns the attributes, and those of each kind of nested object.
func listed(attributes map[string]described) string {
	names, members := map[string][]string{}, map[string]map[string]described{}
	collect(attributes, names, members)
	text := lists(attributes)
	byNames := func(a, b string) int { return slices.Compare(names[a], names[b]) }
	for _, kind := range slices.SortedFunc(maps.Keys(names), byNames) {
		text += "\n### " + strings.Join(names[kind], ", ") + "\n" + lists(members[kind])
	}
	return text
}

// collect adds the nested objects by their type: the names of the attributes that have it, and its members.
func collect(attributes map[string]described, names map[string][]string, members map[string]map[string]described) {
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		object, isObject := attributes[name].(schema.SingleNestedAttribute)
		if !isObject {
			continue
		}
		kind := object.GetType().String()
		if !slices.Contains(names[kind], name) {
			names[kind] = append(names[kind], name)
		}
		members[kind] = all(object.Attributes)
		collect(members[kind], names, members)
	}
}

// lists returns what is required, optional and read only.
func lists(attributes map[string]described) string {
	var required, optional, readOnly string
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		one := attributes[name]
		line := "- `" + name + "`" + notes(one) + ": " + one.GetMarkdownDescription() + "\n"
		switch {
		case one.IsRequired():
			required += line
		case one.IsOptional():
			optional += line
		default:
			readOnly += line
		}
	}
	var text string
	for _, part := range [][2]string{{"Required", required}, {"Optional", optional}, {"Read only", readOnly}} {
		if part[1] != "" {
			text += "\n" + part[0] + ":\n\n" + part[1]
		}
	}
	return text
}

func notes(one described) string {
	switch {
	case one.IsWriteOnly():
		return " (write-only)"
	case one.IsSensitive():
		return " (sensitive)"
	}
	return ""
}
