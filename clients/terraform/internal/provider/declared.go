package provider

import (
	"context"
	_ "embed"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// field is what the API declares about a field of a body or an answer. Only an answer has a computed one, and another value of
// a fixed one needs another object.
type field struct {
	Type                      string
	Text                      string
	Required, Computed, Fixed bool
	Default                   any
	Choices                   []string
	Pattern                   string
	Min, Max                  *int64
	MinItems, MaxItems        int
	Fields                    fields
}

type fields map[string]field

//go:embed generated/objects.json
var objectsFile []byte

// declared returns the fields of an object, as the operations that create and read it declare them.
func declared(object string) fields {
	var objects map[string]fields
	if err := json.Unmarshal(objectsFile, &objects); err != nil {
		panic(err)
	}
	return objects[object]
}

func idAttribute() schema.StringAttribute {
	return schema.StringAttribute{
		MarkdownDescription: "The id of the object.",
		Computed:            true,
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
}

// attributes returns the attributes of the fields.
func (all fields) attributes() map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{}
	for name, one := range all {
		attributes[name] = one.attribute(name, all)
	}
	return attributes
}

func (f field) attribute(name string, all fields) schema.Attribute {
	initial := f.initial()
	hasDefault := !initial.IsNull()
	isOptional, isComputed := !f.Required && !f.Computed, f.Computed || hasDefault
	switch value := initial.(type) {
	case types.Int64:
		attribute := schema.Int64Attribute{
			MarkdownDescription: f.description(""), Required: f.Required, Optional: isOptional, Computed: isComputed,
			Validators: []validator.Int64{int64validator.Between(*f.Min, *f.Max)},
		}
		if hasDefault {
			attribute.Default = int64default.StaticInt64(value.ValueInt64())
		}
		return attribute
	case types.Bool:
		attribute := schema.BoolAttribute{
			MarkdownDescription: f.description(""), Required: f.Required, Optional: isOptional, Computed: isComputed,
		}
		if hasDefault {
			attribute.Default = booldefault.StaticBool(value.ValueBool())
		}
		return attribute
	case types.Map:
		return schema.MapAttribute{
			MarkdownDescription: f.description(""), ElementType: types.StringType,
			Optional: true, Computed: true, Default: mapdefault.StaticValue(value),
		}
	case types.Set:
		attribute := schema.SetAttribute{
			MarkdownDescription: f.description("Any of "), ElementType: types.StringType,
			Required: f.Required, Optional: isOptional, Computed: isComputed,
		}
		if hasDefault {
			attribute.Default = setdefault.StaticValue(value)
		}
		if f.MinItems > 0 {
			attribute.Validators = append(attribute.Validators, setvalidator.SizeAtLeast(f.MinItems))
		}
		if f.MaxItems > 0 {
			attribute.Validators = append(attribute.Validators, setvalidator.SizeAtMost(f.MaxItems))
		}
		if f.Choices != nil {
			one := setvalidator.ValueStringsAre(stringvalidator.OneOf(f.Choices...))
			attribute.Validators = append(attribute.Validators, one)
		}
		return attribute
	case types.List:
		return schema.ListAttribute{
			MarkdownDescription: f.description(""), ElementType: types.Int64Type, Optional: true,
			Validators: []validator.List{
				listvalidator.SizeBetween(1, f.MaxItems),
				listvalidator.ValueInt64sAre(int64validator.Between(*f.Min, *f.Max)),
				listvalidator.ConflictsWith(siblings(name, all)...),
			},
		}
	case types.Object:
		attribute := schema.SingleNestedAttribute{
			MarkdownDescription: f.description(""), Required: f.Required, Optional: isOptional, Computed: isComputed,
			Attributes: f.Fields.attributes(),
		}
		if hasDefault {
			attribute.Default = objectdefault.StaticValue(value)
		}
		return attribute
	default:
		return f.textAttribute(name, initial.(types.String))
	}
}

func (f field) textAttribute(name string, initial types.String) schema.StringAttribute {
	attribute := schema.StringAttribute{
		MarkdownDescription: f.description("One of "), Required: f.Required,
		Optional: !f.Required && !f.Computed, Computed: f.Computed || !initial.IsNull(),
	}
	if !initial.IsNull() {
		attribute.Default = stringdefault.StaticString(initial.ValueString())
	}
	if same := f.spelling(name); same != nil {
		attribute.PlanModifiers = []planmodifier.String{same}
	}
	if f.Type == "json" {
		attribute.MarkdownDescription += " As JSON, which `jsonencode` writes."
		attribute.Validators = append(attribute.Validators, isPayload{})
	}
	if f.Choices != nil {
		attribute.Validators = append(attribute.Validators, stringvalidator.OneOf(f.Choices...))
	}
	if f.Pattern != "" {
		form := stringvalidator.RegexMatches(regexp.MustCompile(f.Pattern), "must match "+f.Pattern)
		attribute.Validators = append(attribute.Validators, form)
	}
	if f.Fixed {
		attribute.MarkdownDescription += " Another value creates the object again."
		attribute.PlanModifiers = append(attribute.PlanModifiers, stringplanmodifier.RequiresReplace())
	}
	if f.Min != nil {
		attribute.Validators = append(attribute.Validators, stringvalidator.UTF8LengthAtLeast(int(*f.Min)))
	}
	if f.Max != nil {
		attribute.Validators = append(attribute.Validators, stringvalidator.UTF8LengthAtMost(int(*f.Max)))
	}
	return attribute
}

// description returns the text of a field, with its choices and its default unless the text says it.
func (f field) description(choose string) string {
	text := f.Text
	if f.Choices != nil {
		text += " " + choose + "`" + strings.Join(f.Choices, "`, `") + "`."
	}
	if f.Default != nil && !strings.Contains(strings.ToLower(f.Text), "default") {
		text += " Default `" + strings.Trim(canonical(f.Default), `"`) + "`."
	}
	return text
}

// siblings returns the other fields, which listed delays exclude.
func siblings(name string, all fields) []path.Expression {
	var others []path.Expression
	for _, other := range slices.Sorted(maps.Keys(all)) {
		if other != name {
			others = append(others, path.MatchRelative().AtParent().AtName(other))
		}
	}
	return others
}

// spelling returns how two texts of a field are compared, and nil when each text is a value of its own.
func (f field) spelling(name string) sameAs {
	switch {
	case f.Type == "time":
		return sameTime
	case f.Type == "json":
		return sameJSON
	case name == "cron":
		return sameCron
	}
	return nil
}

// initial returns the value of a field that a configuration leaves out: its default, or null.
func (f field) initial() attr.Value {
	switch f.Type {
	case "number":
		if number, ok := f.Default.(float64); ok {
			return types.Int64Value(int64(number))
		}
		return types.Int64Null()
	case "flag":
		if flag, ok := f.Default.(bool); ok {
			return types.BoolValue(flag)
		}
		return types.BoolNull()
	case "headers":
		return types.MapValueMust(types.StringType, map[string]attr.Value{})
	case "texts":
		if f.Required || f.Computed || f.MinItems > 0 {
			return types.SetNull(types.StringType)
		}
		return types.SetValueMust(types.StringType, []attr.Value{})
	case "numbers":
		return types.ListNull(types.Int64Type)
	case "object":
		return f.Fields.initial()
	default:
		if text, ok := f.Default.(string); ok {
			return types.StringValue(text)
		}
		return types.StringNull()
	}
}

// initial returns an object with the default of each field, and null when a field has to be given.
func (all fields) initial() types.Object {
	values := map[string]attr.Value{}
	for name, one := range all {
		if one.Required {
			return types.ObjectNull(all.types())
		}
		values[name] = one.initial()
	}
	return types.ObjectValueMust(all.types(), values)
}

func (all fields) types() map[string]attr.Type {
	kinds := map[string]attr.Type{}
	for name, one := range all {
		kinds[name] = one.initial().Type(context.Background())
	}
	return kinds
}
