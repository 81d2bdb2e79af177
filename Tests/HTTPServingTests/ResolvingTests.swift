import Base
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import HTTPKit

@Suite("Names whose servers do not answer")
struct ResolvingTests {
    /// Says an address the first time, and nothing after that.
    private final class FallingSilent: AddressResolver {
        private let asked = Mutex(0)

        var questions: Int { asked.withLock(\.self) }

        func addresses(of name: String) async -> [NetworkAddress] {
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            if number > 1 {
                while !Task.isCancelled, number == questions { try? await Task.sleep(for: .milliseconds(5)) }
            }
            return [NetworkAddress("192.0.2.1")].compactMap(\.self)
        }

        /// Lets who waits go.
        func end() { asked.withLock { $0 += 1 } }
    }

    @Test("are called at the address that they had, while nothing newer is known")
    func old() async throws {
        let resolver = FallingSilent()
        let names = ResolvedNames(resolver, age: .zero, patience: .milliseconds(10))
        let first = await names.addresses(of: "shop.example")
        #expect(first?.count == 1)
        for _ in 0..<2 { #expect(await names.addresses(of: "shop.example") == first) }
        #expect(resolver.questions == 2, "it is asked for once")
        resolver.end()
    }

    @Test("keep no thread from names that are answered")
    func threads() async throws {
        let gate = DispatchSemaphore(value: 0)
        let waiting = Mutex(0)
        let known = Mutex(false)
        let resolver = SystemResolver(threads: 1) { name in
            guard name.hasPrefix("silent") else { return [NetworkAddress("192.0.2.1")].compactMap(\.self) }
            if known.withLock(\.self) {
                waiting.withLock { $0 += 1 }
                gate.wait()
            }
            return []
        }
        for number in 0..<8 { #expect(await resolver.addresses(of: "silent-\(number)").isEmpty) }
        known.withLock { $0 = true }
        await withTaskGroup { group in
            for number in 0..<8 { group.addTask { _ = await resolver.addresses(of: "silent-\(number)") } }
            while waiting.withLock(\.self) == 0 { await Task.yield() }
            #expect(await resolver.addresses(of: "shop.example").count == 1)
            for _ in 0..<8 { gate.signal() }
        }
        await resolver.shutdown()
    }
}
