// The Terraform provider of Belfry.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"terraform-provider-belfry/internal/provider"
)

// The release sets it with -ldflags.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "whether a debugger starts the provider")
	flag.Parse()
	err := providerserver.Serve(context.Background(), provider.New(version), providerserver.ServeOpts{
		Address: "registry.terraform.io/belfry/belfry",
		Debug:   *debug,
	})
	if err != nil {
		log.Fatal(err)
	}
}
