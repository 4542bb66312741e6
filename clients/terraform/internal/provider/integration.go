package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"terraform-provider-belfry/internal/belfry"
)

type integrationResource struct{ connection }

var (
	_ resource.ResourceWithImportState      = &integrationResource{}
	_ resource.ResourceWithConfigValidators = &integrationResource{}
)

var integrationFields = declared("integration")

// writeIntegration sets the attributes of a state to an answer, which shows an address only as its target.
func writeIntegration(
	ctx context.Context, own values, answer belfry.Object, to *tfsdk.State, diagnostics *diag.Diagnostics,
) {
	answer["email"] = json.RawMessage("null")
	if answer.Is("channel", "email") {
		answer["email"] = answer["target"]
	}
	own.write(ctx, integrationFields, answer, to, diagnostics)
}

func (r *integrationResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "belfry_integration"
}

func (r *integrationResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = integrationSchema()
}

func integrationSchema() schema.Schema {
	attributes := integrationFields.attributes()
	attributes["id"] = idAttribute()
	addWriteOnly(attributes, "url")
	return schema.Schema{
		MarkdownDescription: "A destination for the alerts of the workspace.",
		Attributes:          attributes,
	}
}

func (r *integrationResource) ConfigValidators(context.Context) []resource.ConfigValidator {
	return exactlyOneOf("url", path.MatchRoot("email"))
}

func (r *integrationResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan := readValues(ctx, req.Plan, &resp.Diagnostics)
	config := readValues(ctx, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	attribute, url := config.given("url")
	body := integrationFields.body(plan)
	body["url"] = textOrNil(url)
	var made belfry.Object
	if err := r.create(ctx, belfry.Integrations, withoutNils(body), &made); err != nil {
		report(&resp.Diagnostics, "integration", renamed(err, "url", attribute), integrationSchema().Attributes)
		return
	}
	writeIntegration(ctx, plan, made, &resp.State, &resp.Diagnostics)
}

func (r *integrationResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	state := readValues(ctx, req.State, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	at := belfry.At(belfry.Integrations, state.text("id").ValueString())
	found, ok := read(ctx, r.client, at, "integration", resp)
	if !ok {
		return
	}
	// The API shows only the host of the URL.
	if target := state.text("target"); !target.IsNull() && !found.Is("target", target.ValueString()) {
		state.forget("url")
	}
	writeIntegration(ctx, state, found, &resp.State, &resp.Diagnostics)
}

func (r *integrationResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	plan := readValues(ctx, req.Plan, &resp.Diagnostics)
	state := readValues(ctx, req.State, &resp.Diagnostics)
	config := readValues(ctx, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	attribute, url := config.given("url")
	change := changedFields(integrationFields.body(state), integrationFields.body(plan))
	if !plan.text("url").Equal(state.text("url")) || !plan["url_wo_version"].Equal(state["url_wo_version"]) {
		change["url"] = textOrNil(url)
	}
	for _, name := range []string{"url", "email"} {
		if change[name] == nil {
			delete(change, name)
		}
	}
	var changed belfry.Object
	at := belfry.At(belfry.Integrations, state.text("id").ValueString())
	if err := r.client.Patch(ctx, at, change, &changed); err != nil {
		report(&resp.Diagnostics, "integration", renamed(err, "url", attribute), integrationSchema().Attributes)
		return
	}
	writeIntegration(ctx, plan, changed, &resp.State, &resp.Diagnostics)
}

func (r *integrationResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.delete(ctx, belfry.Integrations, "id", "integration", req, resp)
}

func (r *integrationResource) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	r.importByIDOrKey(ctx, belfry.Integrations, "integration", req, resp)
}
