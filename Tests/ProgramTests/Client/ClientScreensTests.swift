import TestSupport
import Testing

@Suite("The example app's screens")
struct ClientScreensTests {
    @Test("show paywall, purchase, limit, upgrade, restoring and the end, in colour where that is wanted")
    func screens() async throws {
        try await ClientWorld.with { world in
            var device = world.device(of: "alice")
            try await world.synchronize(device)
            device.colour = "always"
            let wall = try await world.run(device, "paywall") { $0.text.contains("4.99") }
            #expect(wall.text.contains("\u{1B}[1mUnlock") && wall.text.contains("\u{1B}[36m●\u{1B}[0m"), "\(wall)")
            device.colour = "never"
            #expect(try await !world.run(device, "paywall").text.contains("\u{1B}"))
            let limit = try await world.run(device, "use", "scans", "51")
            #expect(limit.value("used") == "50" && limit.value("refused") == "1", "\(limit)")
            #expect(limit.text.contains("Upgrade to"), "\(limit)")
            #expect(try await world.run(device, "cancel", "basic").value("purchase") == "cancelled")
            try await world.run(device, "buy", "basic") { $0.value("purchase") == "done" }
            let more = try await world.run(device, "use", "scans", "11") { $0.value("used") == "10" }
            #expect(more.value("refused") == "1", "\(more)")
            try await world.run(device, "buy", "lifetime") { $0.value("purchase") == "done" }
            let best = try await world.run(device, "use", "scans", "status") { $0.value("tier") == "premium" }
            #expect(best.value("used") == "1" && best.value("refused") == "", "\(best)")
            // Another installation.
            let restored = try await world.run(world.device(of: "alice"), "restore") { $0.value("restored") == "2" }
            #expect(restored.text.contains("2 purchases were restored"), "\(restored)")
        }
    }

    @Test("show a purchase that waits for approval, and its end on a device that is offline by then")
    func end() async throws {
        try await ClientWorld.with { world in
            var device = world.device(of: "bob", account: "bob")
            try await world.synchronize(device)
            let pending = try await world.run(device, "pending", "basic", "approve", "status")
            #expect(pending.value("purchase") == "pending" && pending.value("access") == "yes", "\(pending)")
            try await world.run(device, "status") { $0.text.contains("Renews on") }
            world.network.set { _ in .cut }
            device.clockAhead = 60 * 86_400
            let ended = try await world.run(device, "status")
            #expect(ended.value("access") == "no" && ended.text.contains("Your subscription has expired"), "\(ended)")
        }
    }
}
