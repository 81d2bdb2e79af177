import Base
import Foundation
import TestSupport
import Testing

@testable import Simulation

@Suite("A shop that is kept in a file")
struct StateTests {
    private static let authority = Task { try SimulatedAuthority.generate() }

    /// A directory while a test needs one.
    private static func inDirectory<T>(_ body: (String) async throws -> T) async throws -> T {
        let directory = FileManager.default.temporaryDirectory.appending(path: "storehook-kept-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        return try await body(directory.path)
    }

    private static func configuration(_ seed: UInt64) -> StandInConfiguration {
        StandInConfiguration(
            notifyURL: "http://127.0.0.1:1/", speed: .times(20_160), customers: 6, lossPercent: 10, failurePercent: 20,
            refundPercent: 30, seed: seed)
    }

    /// Something that a person or an app's server does, one like another for shops that are alike.
    private static func act(_ number: Int, _ shop: KeptShop, _ chance: TestSupport.SeededGenerator) async -> String {
        var chance = chance
        let lines = await shop.truth()
        let line = lines.isEmpty ? [:] : lines[Int.random(in: 0..<lines.count, using: &chance)]
        func id(_ name: String) -> String { if case .string(let id) = line[name] { id } else { "1" } }
        let original = id("originalTransactionId")
        let transaction = line["transactionId"] == nil ? original : id("transactionId")
        let products = ["basic.weekly", "premium.monthly", "news.monthly", "coins.100"]
        let product = "com.example.storehook." + (products.randomElement(using: &chance) ?? "")
        let place = Bool.random(using: &chance) ? "Sandbox" : "Production"
        let subscription = "{\"originalTransactionId\":\"\(original)\",\"productId\":\"\(product)\"}"
        let answer =
            switch number {
            case 0: await shop.shop("purchases", "{\"productId\":\"\(product)\",\"environment\":\"\(place)\"}")
            case 1: await shop.shop("cancellations", subscription)
            case 2: await shop.shop("reactivations", subscription)
            case 3: await shop.shop("plan-changes", subscription)
            case 4: await shop.shop("billing", "{\"originalTransactionId\":\"\(original)\",\"fails\":true}")
            case 5: await shop.shop("refunds", "{\"transactionId\":\"\(transaction)\",\"percentage\":40}")
            case 6: await shop.shop("refund-reversals", "{\"transactionId\":\"\(transaction)\"}")
            case 7: await shop.shop("consumption-requests", "{\"transactionId\":\"\(transaction)\"}")
            case 8: await shop.shop("family", subscription)
            case 9: await shop.shop("clock", "{\"speed\":\(Int.random(in: 10_000...30_000, using: &chance))}")
            case 10: await shop.shop("loss", "{\"rate\":\(Int.random(in: 0...40, using: &chance))}")
            case 11: await shop.shop("errors", #"{"code":4290000,"path":"/inApps/v1/lookup"}"#)
            case 12:
                await shop.ask(
                    "v1/subscriptions/extend/\(original)",
                    #"{"extendByDays":3,"extendReasonCode":1,"requestIdentifier":"a"}"#, method: "PUT")
            case 13:
                await shop.ask(
                    "v1/subscriptions/extend/mass",
                    "{\"extendByDays\":2,\"extendReasonCode\":1,\"requestIdentifier\":"
                        + "\"11111111-2222-4333-8444-\(UInt64.random(in: 100_000_000_000...999_999_999_999, using: &chance))\","
                        + "\"productId\":\"\(product)\"}")
            case 14: await shop.ask("v1/notifications/test?environment=\(place)", "{}")
            case 15:
                await shop.shop("finish", "{\"customer\":\"\(id("customer"))\",\"transactionId\":\"\(transaction)\"}")
            default:
                await shop.ask(
                    "v1/transactions/\(original)/appAccountToken",
                    #"{"appAccountToken":"7f1de78e-0d4e-4c5e-9d3c-000000000001"}"#, method: "PUT")
            }
        return answer.text
    }

    @Test(
        "gives every answer as before when it is opened again, and lives on as if it had never been closed",
        arguments: sampledSeeds(of: 12, oneIn: 6))
    func same(seed: UInt64) async throws {
        print("seed \(seed)")
        let authority = try await Self.authority.value
        try await Self.inDirectory { directory in
            var chance = TestSupport.SeededGenerator(seed: seed)
            let clock = ManualClock()
            var file = directory + "/0"
            let whole = try await KeptShop(Self.configuration(seed), authority, clock)
            var kept = try await KeptShop(Self.configuration(seed), authority, clock, keptIn: file)
            for step in 1...40 {
                clock.advance(by: .seconds(Int64.random(in: 0...12, using: &chance)))
                let number = Int.random(in: 0...16, using: &chance)
                let own = TestSupport.SeededGenerator(seed: chance.next())
                for shop in [whole, kept] { try await shop.live() }
                let (one, other) = (await Self.act(number, whole, own), await Self.act(number, kept, own))
                // A receipt and a record are signed for each who asks; what they say is compared below.
                #expect(one.count == other.count, "\(number)")
                guard step % 4 == 0 else { continue }
                // No shop is opened again within the millisecond in which something happened.
                clock.advance(by: .milliseconds(20))
                if step % 8 == 0 {
                    try await kept.store.close()
                } else {
                    // As a kill leaves it: what was saved, and the beginning of what was not.
                    try await kept.store.save()
                    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
                    file = directory + "/\(step)"
                    let unsaved = "{\"received\":[\"1\"]}\n{\"customer\":{\"id\":"
                    try (bytes + Data(unsaved.utf8)).write(to: URL(fileURLWithPath: file))
                }
                let before = await whole.everything()
                kept = try await KeptShop(Self.configuration(seed), authority, clock, keptIn: file)
                // A loss that was set is not kept; everything else is.
                await whole.store.setLoss(percent: Self.configuration(seed).lossPercent)
                let after = await kept.everything()
                #expect(before == after)
                guard before == after else { return }
            }
            #expect(await kept.store.posts.count > 20)
        }
    }

    @Test("forgets nothing that was posted when it is killed, and posts again what was on its way")
    func killed() async throws {
        let authority = try await Self.authority.value
        try await Self.inDirectory { directory in
            let clock = ManualClock()
            var configuration = Self.configuration(1)
            (configuration.customers, configuration.lossPercent) = (0, 0)
            let shop = try await KeptShop(configuration, authority, clock, keptIn: directory + "/state")
            await shop.shop("purchases", #"{"productId":"com.example.storehook.basic.weekly"}"#)
            clock.advance(by: .seconds(10))
            let posted = try await shop.store.takePosts(16)
            #expect(posted.count == 1)
            try FileManager.default.copyItem(atPath: directory + "/state", toPath: directory + "/copy")
            let again = try await KeptShop(configuration, authority, clock, keptIn: directory + "/copy")
            #expect(await again.truth() == shop.truth())
            #expect(try await again.store.takePosts(16).map(\.index) == posted.map(\.index))
            let uuids = (
                await shop.store.posts.map(\.notification.uuid), await again.store.posts.map(\.notification.uuid)
            )
            #expect(uuids.0 == uuids.1)
        }
    }

    @Test("writes of a change what changed, and of a long life no more than twice what there is")
    func bounded() async throws {
        let authority = try await Self.authority.value
        try await Self.inDirectory { directory in
            let (clock, file) = (ManualClock(), directory + "/state")
            func length() throws -> Int {
                try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
            }
            var configuration = Self.configuration(3)
            configuration.customers = 20
            let shop = try await KeptShop(configuration, authority, clock, keptIn: file)
            var longest = 0
            for _ in 0..<1500 {
                clock.advance(by: .seconds(1))
                try await shop.live()
                try await shop.store.save()
                longest = max(longest, try length())
            }
            let (grown, count) = (try length(), await shop.store.posts.count)
            await shop.shop("errors", #"{"code":4290000}"#)
            try await shop.store.save()
            #expect(try length() - grown < 16_384)
            try await shop.store.save()
            try await shop.store.close()
            let whole = try length()
            #expect(longest < 2 * whole + (2 << 20), "\(longest) \(whole)")
            #expect(count > 300)
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test("is not opened where the file is damaged, of another version, another shop's, or somebody's already")
    func refused() async throws {
        let authority = try await Self.authority.value
        try await Self.inDirectory { directory in
            let (clock, file) = (ManualClock(), directory + "/state")
            let shop = try await KeptShop(Self.configuration(1), authority, clock, keptIn: file)
            func fault(_ file: String, _ authority: SimulatedAuthority) async -> String {
                let fault = await #expect(throws: StandInFault.self) {
                    _ = try await KeptShop(Self.configuration(1), authority, clock, keptIn: file)
                }
                return fault?.description ?? ""
            }
            #expect(await fault(file, authority).contains("in use"))
            clock.advance(by: .seconds(40))
            try await shop.live()
            try await shop.store.close()
            let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
            let stranger = try SimulatedAuthority.generate()
            #expect(await fault(file, stranger).contains("another root"))
            func written(_ name: String, _ bytes: Data) throws -> String {
                try bytes.write(to: URL(fileURLWithPath: directory + "/" + name))
                return directory + "/" + name
            }
            var damaged = bytes
            damaged[bytes.count / 2] ^= 1
            #expect(await fault(try written("damaged", damaged), authority).contains("is damaged at byte"))
            let text = String(decoding: bytes, as: UTF8.self)
            let newer = Data(text.replacing("state\":3}", with: "state\":4}", maxReplacements: 1).utf8)
            #expect(await fault(try written("newer", newer), authority).contains("is of version 4"))
            let older = Data("storehook app-store, state 2\n0123456789abcdef {}\n".utf8)
            #expect(await fault(try written("older", older), authority).contains("is of version 2"))
            #expect(await fault(try written("empty", Data()), authority).contains("is no state"))
            #expect(await fault(directory, authority).contains(directory))
            // A line that is missing at the end is one of a later moment; out of the middle none can be missing.
            let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
            let gap = Data((lines[...1] + lines[3...]).joined(separator: [10]))
            #expect(await fault(try written("gap", gap), authority).contains("is damaged at byte"))
            // The shop as a whole was on the disk before it took its place: only what was added since can be unfinished.
            let mark = bytes.count - lines[lines.count - 2].count - 1
            for length in [lines[0].count + 1, lines[0].count + 40, bytes.count / 2, mark, bytes.count - 1] {
                let cut = try written("cut-\(length)", bytes.prefix(length))
                #expect(await fault(cut, authority).contains("is damaged at byte"), "\(length)")
                #expect(try Data(contentsOf: URL(fileURLWithPath: cut)).count == length)
            }
        }
    }

    @Test("that was closed for long does not tell all that it slept through")
    func pause() async throws {
        let authority = try await Self.authority.value
        let clock = ManualClock()
        let shop = try await KeptShop(Self.configuration(5), authority, clock)
        for _ in 0..<200 {
            clock.advance(by: .seconds(1))
            try await shop.live()
        }
        let before = await shop.store.posts.count
        clock.advance(by: .seconds(86_400))
        try await shop.live()
        let told = await shop.store.posts.count - before
        #expect((1...6 * 8).contains(told), "\(told)")
        for _ in 0..<200 {
            clock.advance(by: .seconds(1))
            try await shop.live()
        }
        let statuses = await shop.truth().compactMap { $0["status"] }
        #expect(statuses.filter { $0 == .integer(1) }.count >= 3, "\(statuses)")
    }

    @Test(
        "takes another speed from its next start on, and keeps what was set meanwhile otherwise; a loss goes to the next start"
    )
    func settings() async throws {
        let authority = try await Self.authority.value
        try await Self.inDirectory { directory in
            let (clock, file) = (ManualClock(), directory + "/state")
            var configuration = Self.configuration(1)
            func reopened(_ act: (KeptShop) async -> Void) async throws -> (StandInConfiguration.Speed, Double) {
                let shop = try await KeptShop(configuration, authority, clock, keptIn: file)
                await act(shop)
                try await shop.store.close()
                return (await shop.store.speed, await shop.store.lossPercent)
            }
            _ = try await reopened { shop in
                await shop.shop("loss", #"{"rate":7}"#)
                await shop.shop("clock", #"{"speed":"sandbox"}"#)
            }
            #expect(try await reopened { _ in } == (.sandbox, 10))
            (configuration.speed, configuration.lossPercent) = (.times(5), 3)
            #expect(try await reopened { _ in } == (.times(5), 3))
            let shop = try await KeptShop(configuration, authority, clock, keptIn: file)
            #expect(await shop.shop("clock", #"{"speed":0}"#).text.contains("whole number from 1"))
            #expect(await shop.shop("loss", #"{"rate":9}"#).text == #"{"formerRate":3,"rate":9}"#)
        }
    }
}
