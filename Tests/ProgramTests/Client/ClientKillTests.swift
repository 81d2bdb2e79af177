import Foundation
import TestSupport
import Testing

@Suite("The example app, killed")
struct ClientKillTests {
    /// A request that is held, at the server's proxy or at the App Store's.
    private struct Point: CustomStringConvertible {
        var line: String
        var isAnswered: Bool
        var isAtStore: Bool
        /// How often the purchase is handed in: again only where the app did not hear that it was accepted.
        var handedIn = 1

        var description: String { "\(isAnswered ? "answer to" : "request") \(line)" }
    }

    @Test("between purchase, verification and finish: what was bought is verified once and finished in the end")
    func kills() async throws {
        try await ClientWorld.with { world in
            try await world.silenceApple()
            var expected: Int64 = 0
            for (number, point) in [
                Point(line: "POST /stand-in/purchases", isAnswered: true, isAtStore: true),
                Point(line: "POST /v1/subscriptions/verify", isAnswered: false, isAtStore: false),
                Point(line: "POST /v1/subscriptions/verify", isAnswered: true, isAtStore: false, handedIn: 2),
                Point(line: "POST /stand-in/finish", isAnswered: false, isAtStore: true),
                Point(line: "POST /stand-in/finish", isAnswered: true, isAtStore: true),
            ].enumerated() {
                let name = "customer\(number)"
                let device = world.device(of: name, account: name)
                let before = world.verifications
                let proxy = point.isAtStore ? world.device : world.network
                proxy.set { line in
                    guard line.hasPrefix(point.line) else { return .pass }
                    return point.isAnswered ? .holdAnswer : .hold
                }
                try await world.kill(device, ["buy", ClientWorld.monthly], at: proxy)
                let isFinished = point.line.hasSuffix("finish") && point.isAnswered
                #expect(try await world.unfinished(of: name) == (isFinished ? 0 : 1), "\(point)")
                try await world.run(device, "status") { output in
                    guard output.value("access") == "yes" else { return false }
                    return try await world.unfinished(of: name) == 0
                }
                #expect(world.verifications - before == point.handedIn, "\(point)")
                expected += 1
                let purchases = try await world.purchases()
                #expect(purchases == [expected, expected], "\(point): \(purchases)")
            }
        }
    }

    @Test("beside a second process of its own: both see the purchase, which counts once and is finished")
    func twice() async throws {
        try await ClientWorld.with { world in
            try await world.silenceApple()
            // As an app and its extension: one device, one account, and a folder for each process.
            let (device, other) = (world.device(of: "alice"), world.device(of: "alice"))
            // Bought, and not heard of.
            world.device.set { $0.hasPrefix("POST /stand-in/purchases") ? .holdAnswer : .pass }
            try await world.kill(device, ["buy", ClientWorld.monthly], at: world.device)
            // Both come to the same point before one of them goes on.
            world.network.set { $0.hasPrefix("POST /v1/subscriptions/verify") ? .hold : .pass }
            let programs = [try await world.launch(device, ["status"]), try await world.launch(other, ["status"])]
            do {
                try await eventually("both verify") { world.network.held.count == 2 }
                world.network.set { _ in .pass }
                world.network.release()
                for program in programs {
                    let ending = await program.end()
                    let output = ClientOutput(text: program.output, errors: program.errors)
                    #expect(ending == .exited(0) && output.value("access") == "yes", "\(output)")
                }
            } catch {
                for program in programs { await program.discard() }
                throw error
            }
            for program in programs { await program.discard() }
            for device in [device, other] {
                try await world.run(device, "status") { _ in try await world.unfinished(of: "alice") == 0 }
            }
            #expect(try await world.purchases() == [1, 1])
            // Each of them knows it from the server, and what it kept can be read: without the App Store, and then without the server.
            world.device.set { _ in .cut }
            for device in [device, other] { try await world.run(device, "status") { $0.value("basis") == "server" } }
            world.network.set { _ in .cut }
            for device in [device, other] {
                let seen = try await world.run(device, "status")
                #expect(seen.value("access") == "yes" && seen.value("basis") == "cache", "\(seen)")
            }
        }
    }
}
