package provider

import (
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

func textOrNil(value types.String) any {
	if value.IsNull() || value.IsUnknown() {
		return nil
	}
	return value.ValueString()
}

// withoutNils returns the fields that have a value: a creation takes no null.
func withoutNils(fields map[string]any) map[string]any {
	given := map[string]any{}
	for name, value := range fields {
		if value != nil {
			given[name] = value
		}
	}
	return given
}

// changedFields returns the fields whose value differs.
func changedFields(before, after map[string]any) map[string]any {
	changed := map[string]any{}
	for name, value := range after {
		if canonical(value) != canonical(before[name]) {
			changed[name] = value
		}
	}
	return changed
}

// canonical returns JSON whose members are in order.
func canonical(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}
