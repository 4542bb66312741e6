package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-belfry/internal/belfry"
)

type subscriptionResource struct{ connection }

var _ resource.ResourceWithImportState = &subscriptionResource{}

// SubscriptionModel is a subscription in a state.
type SubscriptionModel struct {
	DeliveryModel
	Topic  types.String `tfsdk:"topic"`
	Filter types.String `tfsdk:"filter"`
	Active types.Bool   `tfsdk:"active"`
}

func (m *SubscriptionModel) body() map[string]any {
	body := m.DeliveryModel.body()
	body["topic"] = m.Topic.ValueString()
	body["filter"] = json.RawMessage(m.Filter.ValueString())
	body["active"] = m.Active.ValueBool()
	return body
}

func (m *SubscriptionModel) fill(from belfry.Subscription) {
	m.DeliveryModel.fill(from.Delivery)
	m.Topic = types.StringValue(from.Topic)
	filter := string(from.Filter)
	m.Filter = sameJSON.keep(m.Filter, &filter)
	m.Active = types.BoolValue(from.Active)
}

func (r *subscriptionResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "belfry_subscription"
}

func (r *subscriptionResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = subscriptionSchema()
}

func subscriptionSchema() schema.Schema {
	own := map[string]schema.Attribute{
		"topic": schema.StringAttribute{
			MarkdownDescription: "A topic, all topics below one (`orders.*`), or all topics (`*`).",
			Required:            true,
		},
		"filter": schema.StringAttribute{
			MarkdownDescription: "Up to 20 conditions on members of the payload, as JSON: write them with `jsonencode()`. " +
				"Only events for which all of them hold are sent. Default: none.",
			Optional:      true,
			Computed:      true,
			Default:       stringdefault.StaticString("[]"),
			Validators:    []validator.String{isPayload{}},
			PlanModifiers: []planmodifier.String{sameJSON},
		},
		"active": schema.BoolAttribute{
			MarkdownDescription: "Whether it receives events. Default: true.",
			Optional:            true,
			Computed:            true,
			Default:             booldefault.StaticBool(true),
		},
	}
	return schema.Schema{
		MarkdownDescription: "A target that receives the events of some topics.",
		Attributes:          merge(deliveryAttributes(), own),
	}
}

func (r *subscriptionResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan SubscriptionModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	var made belfry.Subscription
	if err := r.create(ctx, belfry.Subscriptions, withoutNils(plan.body()), &made); err != nil {
		report(&resp.Diagnostics, "subscription", err, subscriptionSchema().Attributes)
		return
	}
	plan.fill(made)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *subscriptionResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state SubscriptionModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, ok := read[belfry.Subscription](ctx, r.client, belfry.At(belfry.Subscriptions, state.ID.ValueString()), "subscription", resp)
	if !ok {
		return
	}
	state.fill(found)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

func (r *subscriptionResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state SubscriptionModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	var changed belfry.Subscription
	at := belfry.At(belfry.Subscriptions, state.ID.ValueString())
	if err := r.client.Patch(ctx, at, changedFields(state.body(), plan.body()), &changed); err != nil {
		report(&resp.Diagnostics, "subscription", err, subscriptionSchema().Attributes)
		return
	}
	plan.fill(changed)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *subscriptionResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.delete(ctx, belfry.Subscriptions, "id", "subscription", req, resp)
}

func (r *subscriptionResource) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	r.importByIDOrKey(ctx, belfry.Subscriptions, "subscription", req, resp)
}
