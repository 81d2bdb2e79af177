import AccountStore
import Base
import Staff
import Synchronization
import Testing

@testable import ConsolePages

/// What is decided without a database.
@Suite("Limits and marks")
struct LoginLimitTests {
    @Test("An address that fails with an account waits longer each time, and other accounts and addresses do not")
    func pairs() throws {
        let now = Mutex(ContinuousClock.now)
        let limits = LoginLimits(perMinute: 1_000_000, burst: 1_000_000) { now.withLock(\.self) }
        let (here, there) = (NetworkAddress("192.0.2.1"), NetworkAddress("192.0.2.2"))
        var waits: [Duration] = []
        for _ in 0..<12 {
            if let wait = limits.refusal(of: "kim", from: here) {
                waits.append(wait)
                now.withLock { $0 += wait }
                #expect(limits.refusal(of: "kim", from: here) == nil)
            }
            limits.failed("KIM", from: here)
            #expect(limits.refusal(of: "kim", from: there) == nil && limits.refusal(of: "sam", from: here) == nil)
        }
        #expect(waits == [30, 60, 120, 240, 480, 900].map { .seconds($0) }, "\(waits)")
        limits.succeeded("kim", from: here)
        #expect(limits.refusal(of: "kim", from: here) == nil)
    }

    @Test(
        "Hashes are worked out one after the other, few wait, and those from where somebody has logged in have places of their own"
    )
    func checks() async throws {
        let checks = PasswordChecks()
        let password = try StaffPassword(new: "correct horse battery", of: "kim@example.com")
        let hash = try PasswordHash(of: password)
        let known = NetworkAddress("203.0.113.1")
        #expect(try await checks.matches(password, hash, from: known))
        let wrong = try StaffPassword(new: "wrong horse battery", of: "kim@example.com")
        let outcomes = await withTaskGroup(of: String.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let address = NetworkAddress(high: 0, low: UInt64(number))
                    do { return try await checks.matches(wrong, hash, from: address) ? "yes" : "no" } catch {
                        return "busy"
                    }
                }
            }
            // A visitor from an address that has logged in before is let in meanwhile.
            group.addTask {
                try? await Task.sleep(for: .milliseconds(20))
                do { return try await checks.matches(password, hash, from: known) ? "in" : "out" } catch {
                    return "busy too"
                }
            }
            return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(outcomes["in"] == 1 && outcomes["yes"] == nil, "\(outcomes)")
        #expect(outcomes["busy", default: 0] >= 40 - PasswordChecks.mostOfStrangers - 8, "\(outcomes)")
        // Without an account the check takes as long as with one.
        #expect(try await checks.matches(password, nil, from: known) == false)
    }

    @Test("A form that is sent twice is done once, and one that failed may be sent again")
    func once() {
        let forms = SentForms()
        let number = SentForms.number()
        #expect(forms.take(number) == nil)
        #expect(forms.take(number) == .underWay)
        forms.note(number, Place("orders"))
        #expect(forms.take(number) == .done(Place("orders")))
        let other = SentForms.number()
        #expect(other != number && forms.take(other) == nil)
        forms.note(other, nil)
        #expect(forms.take(other) == nil)
    }

    @Test("Forms and queries are read as browsers write them, and nothing else is")
    func fields() {
        func read(_ text: String) -> [String: String]? { FormFields(text.utf8)?.values }
        #expect(read("") == [:])
        #expect(read("a=1&b=%E4%B8%AD+x&c=&d&a=2") == ["a": "1", "b": "中 x", "c": "", "d": ""])
        #expect(read("a=%2B%26%3D") == ["a": "+&="])
        for wrong in ["a=%", "a=%2", "a=%zz", "a=%00", "a=\u{0}", "a=%ff", "%C0%80=x"] {
            #expect(read(wrong) == nil, "\(wrong)")
        }
        #expect(read((0..<201).map { "f\($0)=" }.joined(separator: "&")) == nil)
    }
}
