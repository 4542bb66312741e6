package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"terraform-provider-belfry/internal/belfry"
)

type subscriptionResource struct{ connection }

var _ resource.ResourceWithImportState = &subscriptionResource{}

var subscriptionFields = declared("subscription")

func (r *subscriptionResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "belfry_subscription"
}

func (r *subscriptionResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = subscriptionSchema()
}

func subscriptionSchema() schema.Schema {
	attributes := subscriptionFields.attributes()
	attributes["id"] = idAttribute()
	return schema.Schema{
		MarkdownDescription: "A target that receives the events of some topics.",
		Attributes:          attributes,
	}
}

func (r *subscriptionResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan := readValues(ctx, req.Plan, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	var made belfry.Object
	if err := r.create(ctx, belfry.Subscriptions, withoutNils(subscriptionFields.body(plan)), &made); err != nil {
		report(&resp.Diagnostics, "subscription", err, subscriptionSchema().Attributes)
		return
	}
	plan.write(ctx, subscriptionFields, made, &resp.State, &resp.Diagnostics)
}

func (r *subscriptionResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	state := readValues(ctx, req.State, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	at := belfry.At(belfry.Subscriptions, state.text("id").ValueString())
	found, ok := read(ctx, r.client, at, "subscription", resp)
	if !ok {
		return
	}
	state.write(ctx, subscriptionFields, found, &resp.State, &resp.Diagnostics)
}

func (r *subscriptionResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	plan := readValues(ctx, req.Plan, &resp.Diagnostics)
	state := readValues(ctx, req.State, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	var changed belfry.Object
	at := belfry.At(belfry.Subscriptions, state.text("id").ValueString())
	change := changedFields(subscriptionFields.body(state), subscriptionFields.body(plan))
	if err := r.client.Patch(ctx, at, change, &changed); err != nil {
		report(&resp.Diagnostics, "subscription", err, subscriptionSchema().Attributes)
		return
	}
	plan.write(ctx, subscriptionFields, changed, &resp.State, &resp.Diagnostics)
}

func (r *subscriptionResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.delete(ctx, belfry.Subscriptions, "id", "subscription", req, resp)
}

func (r *subscriptionResource) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	r.importByIDOrKey(ctx, belfry.Subscriptions, "subscription", req, resp)
}
