package provider

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// sameAs decides whether two texts mean the same.
type sameAs func(a, b string) bool

// keep returns a value as the API has it, in the spelling of the configuration when both mean the same.
func (same sameAs) keep(own types.String, now *string) types.String {
	if now != nil && !own.IsNull() && !own.IsUnknown() && same(own.ValueString(), *now) {
		return own
	}
	return types.StringPointerValue(now)
}

func (same sameAs) Description(context.Context) string {
	return "Another spelling of the same value is no change."
}

func (same sameAs) MarkdownDescription(ctx context.Context) string {
	return same.Description(ctx)
}

// PlanModifyString plans no change when the state has an equivalent value.
func (same sameAs) PlanModifyString(_ context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if req.StateValue.IsNull() || req.PlanValue.IsNull() || req.PlanValue.IsUnknown() {
		return
	}
	if same(req.StateValue.ValueString(), req.PlanValue.ValueString()) {
		resp.PlanValue = req.StateValue
	}
}

var sameCron sameAs = func(a, b string) bool {
	return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}

var sameTime sameAs = func(a, b string) bool {
	timeA, errA := time.Parse(time.RFC3339, a)
	timeB, errB := time.Parse(time.RFC3339, b)
	return errA == nil && errB == nil && timeA.Equal(timeB)
}

var sameJSON sameAs = func(a, b string) bool {
	valueA, errA := readJSON(a)
	valueB, errB := readJSON(b)
	return errA == nil && errB == nil && reflect.DeepEqual(valueA, valueB)
}

// readJSON keeps every digit of a number.
func readJSON(text string) (any, error) {
	if !json.Valid([]byte(text)) {
		return nil, &json.SyntaxError{}
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

// isPayload accepts JSON other than null, which the API does not distinguish from no payload.
type isPayload struct{}

func (isPayload) Description(context.Context) string {
	return "must be JSON other than null"
}

func (v isPayload) MarkdownDescription(ctx context.Context) string {
	return v.Description(ctx)
}

func (isPayload) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if value, err := readJSON(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid payload", req.Path.String()+" must be JSON. Write it with jsonencode().")
	} else if value == nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid payload",
			"Leave payload out to send no body, or send null with payload_base64 = base64encode(\"null\").")
	}
}
