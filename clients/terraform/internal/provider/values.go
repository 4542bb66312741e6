package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-belfry/internal/belfry"
)

// values are the attributes of a plan or a state, by name.
type values map[string]attr.Value

func (v values) text(name string) types.String {
	text, _ := v[name].(types.String)
	return text
}

// readValues reads the attributes of a plan or a state.
func readValues(
	ctx context.Context, from interface {
		Get(context.Context, any) diag.Diagnostics
	}, diagnostics *diag.Diagnostics,
) values {
	var object types.Object
	diagnostics.Append(from.Get(ctx, &object)...)
	return object.Attributes()
}

// write sets the attributes of a state to the fields of an answer, in the spelling that they have now. Attributes that the answer
// does not have stay.
func (v values) write(
	ctx context.Context, all fields, answer belfry.Object, to *tfsdk.State, diagnostics *diag.Diagnostics,
) {
	if _, hasID := v["id"]; hasID {
		v["id"] = types.StringPointerValue(answer.Text("id"))
	}
	for name, one := range all {
		if answer[name] == nil {
			continue
		}
		value, err := one.value(answer[name])
		if err != nil {
			diagnostics.AddError("Belfry did not answer as expected", name+": "+err.Error())
			return
		}
		if same := one.spelling(name); same != nil {
			value = same.keep(v.text(name), value.(types.String).ValueStringPointer())
		}
		v[name] = value
	}
	kinds := to.Schema.Type().(attr.TypeWithAttributeTypes).AttributeTypes()
	object, problems := types.ObjectValue(kinds, v)
	diagnostics.Append(problems...)
	if !problems.HasError() {
		diagnostics.Append(to.Set(ctx, object)...)
	}
}

// body returns the fields as the API has them. Nil stands for null.
func (all fields) body(from map[string]attr.Value) map[string]any {
	body := map[string]any{}
	for name, one := range all {
		if !one.Computed {
			body[name] = one.json(from[name])
		}
	}
	// In a retry policy, listed delays replace the other fields.
	if delays := body["delays_ms"]; delays != nil {
		return map[string]any{"delays_ms": delays}
	}
	return body
}

func (f field) json(value attr.Value) any {
	if value == nil || value.IsNull() || value.IsUnknown() {
		return nil
	}
	switch value := value.(type) {
	case types.Int64:
		return value.ValueInt64()
	case types.Bool:
		return value.ValueBool()
	case types.Map:
		body := map[string]any{}
		for name, element := range value.Elements() {
			body[name] = field{}.json(element)
		}
		return body
	case types.Set:
		return listOf(value.Elements())
	case types.List:
		return listOf(value.Elements())
	case types.Object:
		return withoutNils(f.Fields.body(value.Attributes()))
	case types.String:
		if f.Type == "json" {
			return json.RawMessage(value.ValueString())
		}
		return value.ValueString()
	}
	return nil
}

func listOf(elements []attr.Value) []any {
	list := make([]any, len(elements))
	for i, element := range elements {
		list[i] = field{}.json(element)
	}
	return list
}

// value returns a field of an answer as a state has it. Beside listed delays, the other fields have their defaults.
func (f field) value(raw json.RawMessage) (attr.Value, error) {
	if raw == nil {
		return f.initial(), nil
	}
	switch f.Type {
	case "number":
		return decoded(raw, types.Int64PointerValue)
	case "flag":
		return decoded(raw, types.BoolPointerValue)
	case "json":
		if string(raw) == "null" {
			return types.StringNull(), nil
		}
		return types.StringValue(string(raw)), nil
	case "headers":
		return decoded(raw, func(headers map[string]string) attr.Value {
			elements := map[string]attr.Value{}
			for name, text := range headers {
				elements[name] = types.StringValue(text)
			}
			return types.MapValueMust(types.StringType, elements)
		})
	case "texts":
		return decoded(raw, func(texts []string) attr.Value {
			if texts == nil {
				return types.SetNull(types.StringType)
			}
			elements := []attr.Value{}
			for _, text := range texts {
				elements = append(elements, types.StringValue(text))
			}
			return types.SetValueMust(types.StringType, elements)
		})
	case "numbers":
		return decoded(raw, func(numbers []int64) attr.Value {
			if numbers == nil {
				return types.ListNull(types.Int64Type)
			}
			elements := []attr.Value{}
			for _, number := range numbers {
				elements = append(elements, types.Int64Value(number))
			}
			return types.ListValueMust(types.Int64Type, elements)
		})
	case "object":
		return f.Fields.object(raw)
	default:
		return decoded(raw, types.StringPointerValue)
	}
}

func (all fields) object(raw json.RawMessage) (attr.Value, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return types.ObjectNull(all.types()), err
	}
	attributes := map[string]attr.Value{}
	for name, one := range all {
		value, err := one.value(members[name])
		if err != nil {
			return nil, err
		}
		attributes[name] = value
	}
	return types.ObjectValueMust(all.types(), attributes), nil
}

func decoded[T any, V attr.Value](raw json.RawMessage, convert func(T) V) (attr.Value, error) {
	var value T
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, err
	}
	return convert(value), nil
}
