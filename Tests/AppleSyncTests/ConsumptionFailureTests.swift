import AppStorePayloads
import Base
import Testing

@testable import AppStoreServerAPI
@testable import AppleSync

@Suite("What a failure says about an answer that was sent")
struct ConsumptionFailureTests {
    private func end(_ reason: AppStoreFailure.Reason, attempts: Int = 1, requests: Int = 1) -> ConsumptionFailure {
        ConsumptionFailure(
            AppStoreFailure(
                reason: reason, endpoint: .consumptionInformation, environment: .production, attempts: requests),
            attempts: attempts)
    }

    @Test("Apple's own errors mean that Apple did not take it: for now, or for good")
    func apple() {
        func end(_ code: Int64, attempts: Int = 1) -> ConsumptionFailure {
            self.end(.apple(ServerErrorCode(rawValue: code)), attempts: attempts)
        }
        for code: Int64 in [5_000_000, 5_000_001, 4_290_000, 4_040_003, 4_040_004, 4_290_001, 5_030_000] {
            #expect(end(code) == .notTaken, "\(code)")
        }
        for code: Int64 in [4_000_000, 4_000_035, 4_000_047, 4_000_048, 4_009_999, 4_039_999] {
            #expect(end(code) == .refused, "\(code)")
        }
        // Apple learns of fresh transactions late.
        #expect(end(4_040_010) == .notTaken && end(4_040_010, attempts: 5) == .refused)
    }

    @Test("a server that fails without Apple's word does not know, and neither does who hears nothing")
    func unknown() {
        for code: Int64 in [5_000_002, 5_009_999, 5_020_000] {
            #expect(end(.apple(ServerErrorCode(rawValue: code))) == .unknown, "\(code)")
        }
        for status in [500, 501, 502, 504, 599] { #expect(end(.status(status)) == .unknown) }
        for fault in [TransportFault.timeout, .disconnected, .tooLong] {
            #expect(end(.unreachable(fault)) == .unknown)
        }
        #expect(end(.unreadable("")) == .unknown && end(.outcomeUnknown) == .unknown)
    }

    @Test("whatever was not sent, or was turned away before Apple read it, is sent again")
    func notTaken() {
        for fault in [TransportFault.notConnected, .tls] { #expect(end(.unreachable(fault)) == .notTaken) }
        for status in [503, 407, 302] { #expect(end(.status(status)) == .notTaken) }
        #expect(end(.status(400)) == .refused)
        #expect(end(.unauthorized) == .notTaken && end(.unusableKey) == .notTaken)
        #expect(end(.outcomeUnknown, requests: 0) == .notTaken)
    }
}
