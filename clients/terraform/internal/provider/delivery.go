package provider

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-belfry/internal/belfry"
)

const (
	defaultMaxRetries  = 5
	defaultBackoff     = "exponential"
	defaultBaseDelayMs = 10_000
	defaultMaxDelayMs  = 3_600_000
	defaultTimeoutMs   = 30_000
)

func idAttribute() schema.StringAttribute {
	return schema.StringAttribute{
		MarkdownDescription: "The id of the object.",
		Computed:            true,
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
}

func keyAttribute() schema.StringAttribute {
	return schema.StringAttribute{
		MarkdownDescription: "A key of your choice, unique among the objects of this kind in the workspace.",
		Optional:            true,
		Validators:          []validator.String{stringvalidator.LengthBetween(1, 128)},
	}
}

// deliveryAttributes are those that cron jobs and subscriptions share.
func deliveryAttributes() map[string]schema.Attribute {
	return merge(targetAttributes(), map[string]schema.Attribute{
		"id":  idAttribute(),
		"key": keyAttribute(),
		"queue": schema.StringAttribute{
			MarkdownDescription: "The name of the queue that limits the attempts.",
			Optional:            true,
		},
		"on_success": callbackAttribute("Called with the task and the run when a task succeeds."),
		"on_failure": callbackAttribute("Called when a task is dead."),
		"on_attempt": callbackAttribute("Called after each attempt."),
		"max_age_ms": schema.Int64Attribute{
			MarkdownDescription: "No attempt starts this long after the time of the task, in milliseconds.",
			Optional:            true,
			Validators:          []validator.Int64{int64validator.Between(1_000, 1_209_600_000)},
		},
		"labels": schema.SetAttribute{
			MarkdownDescription: "Up to 10 labels of the tasks, to filter by.",
			ElementType:         types.StringType,
			Optional:            true,
			Computed:            true,
			Default:             setdefault.StaticValue(types.SetValueMust(types.StringType, []attr.Value{})),
		},
	})
}

func callbackAttribute(description string) schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: description,
		Optional:            true,
		Attributes:          targetAttributes(),
	}
}

// targetAttributes describe how a URL is called.
func targetAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"url": schema.StringAttribute{
			MarkdownDescription: "An absolute http or https URL, which may have `{{ secrets.NAME }}`.",
			Required:            true,
		},
		"headers": schema.MapAttribute{
			MarkdownDescription: "Headers of the request. Their values may have `{{ secrets.NAME }}`.",
			ElementType:         types.StringType,
			Optional:            true,
			Computed:            true,
			Default:             mapdefault.StaticValue(types.MapValueMust(types.StringType, map[string]attr.Value{})),
		},
		"retry": retryAttribute(),
		"timeout_ms": schema.Int64Attribute{
			MarkdownDescription: "The time limit of an attempt, in milliseconds. Default: 30,000.",
			Optional:            true,
			Computed:            true,
			Default:             int64default.StaticInt64(defaultTimeoutMs),
			Validators:          []validator.Int64{int64validator.Between(1_000, 900_000)},
		},
	}
}

func retryAttribute() schema.SingleNestedAttribute {
	number := func(description string, value, min, max int64) schema.Int64Attribute {
		return schema.Int64Attribute{
			MarkdownDescription: description,
			Optional:            true,
			Computed:            true,
			Default:             int64default.StaticInt64(value),
			Validators:          []validator.Int64{int64validator.Between(min, max)},
		}
	}
	defaults := types.ObjectValueMust(
		map[string]attr.Type{
			"max_retries": types.Int64Type, "backoff": types.StringType,
			"base_delay_ms": types.Int64Type, "max_delay_ms": types.Int64Type, "delays_ms": types.ListType{ElemType: types.Int64Type},
		},
		map[string]attr.Value{
			"max_retries": types.Int64Value(defaultMaxRetries), "backoff": types.StringValue(defaultBackoff),
			"base_delay_ms": types.Int64Value(defaultBaseDelayMs), "max_delay_ms": types.Int64Value(defaultMaxDelayMs),
			"delays_ms": types.ListNull(types.Int64Type),
		},
	)
	return schema.SingleNestedAttribute{
		MarkdownDescription: "When a failed attempt is repeated.",
		Optional:            true,
		Computed:            true,
		Default:             objectdefault.StaticValue(defaults),
		Attributes: map[string]schema.Attribute{
			"max_retries": number("How often. Default: 5.", defaultMaxRetries, 0, 20),
			"backoff": schema.StringAttribute{
				MarkdownDescription: "How the delay grows: `exponential` (the default), `linear` or `fixed`.",
				Optional:            true,
				Computed:            true,
				Default:             stringdefault.StaticString(defaultBackoff),
				Validators:          []validator.String{stringvalidator.OneOf("exponential", "linear", "fixed")},
			},
			"base_delay_ms": number("The first delay, in milliseconds. Default: 10,000.", defaultBaseDelayMs, 1_000, 3_600_000),
			"max_delay_ms":  number("The maximum delay, in milliseconds. Default: 3,600,000.", defaultMaxDelayMs, 1_000, 86_400_000),
			"delays_ms": schema.ListAttribute{
				MarkdownDescription: "The exact delay before each retry, in milliseconds, instead of the other attributes.",
				ElementType:         types.Int64Type,
				Optional:            true,
				Validators: []validator.List{
					listvalidator.SizeBetween(1, 20),
					listvalidator.ValueInt64sAre(int64validator.Between(0, 2_592_000_000)),
					listvalidator.ConflictsWith(
						sibling("max_retries"), sibling("backoff"), sibling("base_delay_ms"), sibling("max_delay_ms"),
					),
				},
			},
		},
	}
}

func sibling(name string) path.Expression {
	return path.MatchRelative().AtParent().AtName(name)
}

// RetryModel is a retry policy in a state. Beside listed delays, the other attributes have their defaults.
type RetryModel struct {
	MaxRetries  types.Int64  `tfsdk:"max_retries"`
	Backoff     types.String `tfsdk:"backoff"`
	BaseDelayMs types.Int64  `tfsdk:"base_delay_ms"`
	MaxDelayMs  types.Int64  `tfsdk:"max_delay_ms"`
	DelaysMs    []int64      `tfsdk:"delays_ms"`
}

func (m *RetryModel) body() any {
	if m == nil {
		return nil
	}
	if m.DelaysMs != nil {
		return belfry.Retry{DelaysMs: m.DelaysMs}
	}
	return belfry.Retry{
		MaxRetries:  m.MaxRetries.ValueInt64Pointer(),
		Backoff:     m.Backoff.ValueStringPointer(),
		BaseDelayMs: m.BaseDelayMs.ValueInt64Pointer(),
		MaxDelayMs:  m.MaxDelayMs.ValueInt64Pointer(),
	}
}

func retryModel(from belfry.Retry) *RetryModel {
	if from.DelaysMs != nil {
		return &RetryModel{
			MaxRetries:  types.Int64Value(defaultMaxRetries),
			Backoff:     types.StringValue(defaultBackoff),
			BaseDelayMs: types.Int64Value(defaultBaseDelayMs),
			MaxDelayMs:  types.Int64Value(defaultMaxDelayMs),
			DelaysMs:    from.DelaysMs,
		}
	}
	return &RetryModel{
		MaxRetries:  types.Int64PointerValue(from.MaxRetries),
		Backoff:     types.StringPointerValue(from.Backoff),
		BaseDelayMs: types.Int64PointerValue(from.BaseDelayMs),
		MaxDelayMs:  types.Int64PointerValue(from.MaxDelayMs),
	}
}

// CallbackModel is a callback in a state.
type CallbackModel struct {
	URL       types.String      `tfsdk:"url"`
	Headers   map[string]string `tfsdk:"headers"`
	Retry     *RetryModel       `tfsdk:"retry"`
	TimeoutMs types.Int64       `tfsdk:"timeout_ms"`
}

func (m *CallbackModel) body() any {
	if m == nil {
		return nil
	}
	return map[string]any{
		"url": m.URL.ValueString(), "headers": m.Headers, "retry": m.Retry.body(), "timeout_ms": m.TimeoutMs.ValueInt64(),
	}
}

func callbackModel(from *belfry.Callback) *CallbackModel {
	if from == nil {
		return nil
	}
	return &CallbackModel{
		URL:       types.StringValue(from.URL),
		Headers:   from.Headers,
		Retry:     retryModel(from.Retry),
		TimeoutMs: types.Int64Value(from.TimeoutMs),
	}
}

// DeliveryModel has the attributes that cron jobs and subscriptions share.
type DeliveryModel struct {
	ID        types.String      `tfsdk:"id"`
	Key       types.String      `tfsdk:"key"`
	URL       types.String      `tfsdk:"url"`
	Headers   map[string]string `tfsdk:"headers"`
	Retry     *RetryModel       `tfsdk:"retry"`
	TimeoutMs types.Int64       `tfsdk:"timeout_ms"`
	Queue     types.String      `tfsdk:"queue"`
	OnSuccess *CallbackModel    `tfsdk:"on_success"`
	OnFailure *CallbackModel    `tfsdk:"on_failure"`
	OnAttempt *CallbackModel    `tfsdk:"on_attempt"`
	MaxAgeMs  types.Int64       `tfsdk:"max_age_ms"`
	Labels    []string          `tfsdk:"labels"`
}

// body returns the fields as the API has them. Nil stands for null.
func (m *DeliveryModel) body() map[string]any {
	return map[string]any{
		"key":        textOrNil(m.Key),
		"url":        m.URL.ValueString(),
		"headers":    m.Headers,
		"retry":      m.Retry.body(),
		"timeout_ms": m.TimeoutMs.ValueInt64(),
		"queue":      textOrNil(m.Queue),
		"on_success": m.OnSuccess.body(),
		"on_failure": m.OnFailure.body(),
		"on_attempt": m.OnAttempt.body(),
		"max_age_ms": numberOrNil(m.MaxAgeMs),
		"labels":     m.Labels,
	}
}

func (m *DeliveryModel) fill(from belfry.Delivery) {
	m.ID = types.StringValue(from.ID)
	m.Key = types.StringPointerValue(from.Key)
	m.URL = types.StringValue(from.URL)
	m.Headers = from.Headers
	m.Retry = retryModel(from.Retry)
	m.TimeoutMs = types.Int64Value(from.TimeoutMs)
	m.Queue = types.StringPointerValue(from.Queue)
	m.OnSuccess = callbackModel(from.OnSuccess)
	m.OnFailure = callbackModel(from.OnFailure)
	m.OnAttempt = callbackModel(from.OnAttempt)
	m.MaxAgeMs = types.Int64PointerValue(from.MaxAgeMs)
	m.Labels = from.Labels
}
