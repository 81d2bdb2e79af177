import Foundation
import TestSupport
import Testing

@Suite("The example app, offline")
struct ClientOfflineTests {
    @Test("has access until the end that it knows and the grace after it, by whatever clock, and none after")
    func access() async throws {
        try await ClientWorld.with { world in
            let first = world.device(of: "alice")
            try await world.run(first, "buy", "basic") { $0.value("purchase") == "done" }
            let bought = try await world.run(first, "status")
            #expect(bought.value("access") == "yes" && bought.value("tier") == "pro", "\(bought)")
            // Another device of the same person: its App Store has nothing, so that only the server's word counts.
            var second = world.device(of: "nobody")
            let known = try await world.run(second, "status") { $0.value("basis") == "server" }
            #expect(known.value("access") == "yes", "\(known)")
            let end = try #require(known.instant("until")).timeIntervalSinceNow
            #expect(end > 20 * 86_400, "\(known)")

            world.network.set { _ in .cut }
            for (ahead, access) in [
                (0, "yes"), (end - 120, "yes"), (end + 120, "yes"), (end + second.grace - 120, "yes"),
                (end + second.grace + 120, "no"),
                // Set back it gains nothing, in this launch and in later ones.
                (end - 120, "no"), (-86_400, "no"),
            ] {
                second.clockAhead = ahead
                let seen = try await world.run(second, "status")
                #expect(seen.value("access") == access, "\(ahead - end) behind the end: \(seen)")
                if access == "yes" { #expect(seen.value("basis") == "cache", "\(seen)") }
            }
            // What the App Store holds has ended by then, too.
            var late = first
            late.clockAhead = end + first.grace + 120
            #expect(try await world.run(late, "status").value("access") == "no")

            world.network.set { _ in .pass }
            // The server's clock sets the device right.
            let again = try await world.run(second, "status") { $0.value("basis") == "server" }
            #expect(again.value("access") == "yes", "\(again)")
        }
    }

    @Test("has nothing on a device that was never online, and nothing of another account's")
    func strangers() async throws {
        try await ClientWorld.with { world in
            let device = world.device(of: "nobody")
            world.network.set { _ in .cut }
            #expect(try await world.run(device, "status").value("access") == "no")
            world.network.set { _ in .pass }
            let alice = world.device(of: "alice")
            try await world.run(alice, "buy", "basic") { $0.value("purchase") == "done" }
            world.network.set { _ in .cut }
            var bob = alice
            (bob.account, bob.customer) = ("bob", "nobody")
            let seen = try await world.run(bob, "status")
            #expect(seen.value("access") == "no", "\(seen)")
        }
    }

    @Test(
        "counts a hundred uses against fifty that are allowed: closed at the limit, and right on the server afterwards")
    func uses() async throws {
        try await ClientWorld.with { world in
            let device = world.device(of: "alice")
            try await world.synchronize(device)
            world.network.set { _ in .cut }
            let few = try await world.run(device, "use", "scans", "10")
            #expect(few.value("used") == "10" && few.value("refused") == "", "\(few)")
            // A report arrives, and the app does not hear of it: the same key is sent again.
            world.network.set { $0.hasPrefix("POST /v1/usage") ? .loseAnswer : .pass }
            try await world.run(device, "sync")
            world.network.set { _ in .pass }
            try await world.synchronize(device)
            #expect(try await world.scans() == ["10", "40"])
            world.network.set { _ in .cut }
            let used = try await world.run(device, "use", "scans", "90")
            #expect(used.value("used") == "40" && used.value("refused") == "50", "\(used)")
            // Another launch knows what was used in the one before.
            let more = try await world.run(device, "use", "scans")
            #expect(more.value("used") == "0" && more.value("refused") == "1", "\(more)")
            world.network.set { _ in .pass }
            try await world.synchronize(device)
            #expect(try await world.scans() == ["50", "0"])
            let after = try await world.run(device, "use", "scans")
            #expect(after.value("used") == "0" && after.value("refused") == "1", "\(after)")
        }
    }

    @Test("counts beside a second process of its own: the server takes fifty in all, and both are closed")
    func usesTwice() async throws {
        try await ClientWorld.with { world in
            let devices = [world.device(of: "alice"), world.device(of: "alice")]
            for device in devices { try await world.synchronize(device) }
            world.network.set { _ in .cut }
            for device in devices {
                let used = try await world.run(device, "use", "scans", "30")
                #expect(used.value("used") == "30" && used.value("refused") == "", "\(used)")
            }
            world.network.set { _ in .pass }
            for device in devices { try await world.synchronize(device) }
            #expect(try await world.scans() == ["50", "0"])
            for device in devices {
                let after = try await world.run(device, "use", "scans")
                #expect(after.value("used") == "0" && after.value("refused") == "1", "\(after)")
            }
        }
    }
}
