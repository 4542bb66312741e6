package provider

import (
	"context"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-belfry/internal/belfry"
)

var queueName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._:/-]{0,127}$`)

type queueResource struct{ connection }

var _ resource.ResourceWithImportState = &queueResource{}

// QueueModel is a queue in a state.
type QueueModel struct {
	Name          types.String    `tfsdk:"name"`
	MaxConcurrent types.Int64     `tfsdk:"max_concurrent"`
	RateLimit     *RateLimitModel `tfsdk:"rate_limit"`
	Ordered       types.Bool      `tfsdk:"ordered"`
}

// RateLimitModel is a rate limit in a state.
type RateLimitModel struct {
	Count    types.Int64 `tfsdk:"count"`
	PeriodMs types.Int64 `tfsdk:"period_ms"`
}

func (m *QueueModel) body() map[string]any {
	body := map[string]any{
		"max_concurrent": numberOrNil(m.MaxConcurrent), "rate_limit": nil, "ordered": m.Ordered.ValueBool(),
	}
	if m.RateLimit != nil {
		body["rate_limit"] = belfry.RateLimit{
			Count: m.RateLimit.Count.ValueInt64(), PeriodMs: m.RateLimit.PeriodMs.ValueInt64(),
		}
	}
	return body
}

func (m *QueueModel) fill(from belfry.Queue) {
	m.Name = types.StringValue(from.Name)
	m.MaxConcurrent = types.Int64PointerValue(from.MaxConcurrent)
	m.RateLimit = nil
	if from.RateLimit != nil {
		m.RateLimit = &RateLimitModel{
			Count: types.Int64Value(from.RateLimit.Count), PeriodMs: types.Int64Value(from.RateLimit.PeriodMs),
		}
	}
	m.Ordered = types.BoolValue(from.Ordered)
}

func (r *queueResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "belfry_queue"
}

func (r *queueResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = queueSchema()
}

func queueSchema() schema.Schema {
	return schema.Schema{
		MarkdownDescription: "The limits of a queue. A queue exists from the first use of its name.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{
				MarkdownDescription: "The name of the queue. Another name creates another queue.",
				Required:            true,
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
				Validators: []validator.String{stringvalidator.RegexMatches(queueName,
					"must be 1 to 128 letters, digits and . _ : / -, and start with a letter, a digit, _ or -")},
			},
			"max_concurrent": schema.Int64Attribute{
				MarkdownDescription: "Attempts in flight at a time, over all dispatchers.",
				Optional:            true,
				Validators:          []validator.Int64{int64validator.Between(1, 1_000)},
			},
			"rate_limit": schema.SingleNestedAttribute{
				MarkdownDescription: "At most `count` attempts start within any period of this length.",
				Optional:            true,
				Attributes: map[string]schema.Attribute{
					"count": schema.Int64Attribute{
						MarkdownDescription: "The number of attempts.",
						Required:            true,
						Validators:          []validator.Int64{int64validator.Between(1, 10_000)},
					},
					"period_ms": schema.Int64Attribute{
						MarkdownDescription: "The length of the period, in milliseconds.",
						Required:            true,
						Validators:          []validator.Int64{int64validator.Between(100, 86_400_000)},
					},
				},
			},
			"ordered": schema.BoolAttribute{
				MarkdownDescription: "One task at a time, in the order of their times. Default: false.",
				Optional:            true,
				Computed:            true,
				Default:             booldefault.StaticBool(false),
			},
		},
	}
}

func (r *queueResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	r.put(ctx, req.Plan, &resp.State, &resp.Diagnostics)
}

func (r *queueResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	r.put(ctx, req.Plan, &resp.State, &resp.Diagnostics)
}

func (r *queueResource) put(ctx context.Context, from tfsdk.Plan, to *tfsdk.State, diagnostics *diag.Diagnostics) {
	var plan QueueModel
	diagnostics.Append(from.Get(ctx, &plan)...)
	if diagnostics.HasError() {
		return
	}
	var queue belfry.Queue
	if err := r.client.Put(ctx, belfry.At(belfry.Queues, plan.Name.ValueString()), plan.body(), &queue); err != nil {
		report(diagnostics, "queue", err, queueSchema().Attributes)
		return
	}
	plan.fill(queue)
	diagnostics.Append(to.Set(ctx, &plan)...)
}

func (r *queueResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state QueueModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, ok := read[belfry.Queue](ctx, r.client, belfry.At(belfry.Queues, state.Name.ValueString()), "queue", resp)
	if !ok {
		return
	}
	state.fill(found)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

func (r *queueResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.delete(ctx, belfry.Queues, "name", "queue", req, resp)
}

func (r *queueResource) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	resource.ImportStatePassthroughID(ctx, path.Root("name"), req, resp)
}
