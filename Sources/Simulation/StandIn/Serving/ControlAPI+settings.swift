import AppStorePayloads
import Base

/// The store's own settings, as a test or a demonstration changes them.
extension ControlAPI {
    func clock(_ call: Call) async throws(Refusal) -> JSONValue {
        let body = try call.object()
        if let seconds = body.integer("advanceSeconds") {
            guard !body.has("customer") else {
                throw Refusal(status: 400, "there is one clock for all; a customer has a speed of his own")
            }
            guard (0...3_200_000_000).contains(seconds) else {
                throw Refusal(status: 400, "advanceSeconds is too much")
            }
            await store.advance(by: seconds * 1000)
        }
        if body.string("speed") == "shop", let name = body.string("customer") {
            await store.change(speed: nil, of: await store.customer(name, try place(call)))
        } else if body.has("speed") {
            guard
                let speed = StandInConfiguration.Speed(
                    body.integer("speed").map(String.init) ?? body.string("speed") ?? "")
            else { throw Refusal(status: 400, "speed is a whole number from 1 to 1000000, or sandbox") }
            if let name = body.string("customer") {
                await store.change(speed: speed, of: await store.customer(name, try place(call)))
            } else {
                await store.change(speed: speed)
            }
        }
        await store.live()
        return .members(["now": .integer(await store.now)])
    }

    func loss(_ call: Call) async throws(Refusal) -> JSONValue {
        guard let rate = try call.object().integer("rate"), (0...100).contains(rate) else {
            throw Refusal(status: 400, "rate goes from 0 to 100 percent")
        }
        if let name = try call.object().string("customer") {
            await store.setLoss(percent: Double(rate), of: await store.customer(name, try place(call)))
            return .members(["rate": .integer(rate), "customer": .string(name)])
        }
        let former = await store.lossPercent
        await store.setLoss(percent: Double(rate))
        return .members(["rate": .integer(rate), "formerRate": .integer(Int64(former.rounded()))])
    }

    /// `{code, count?, path?, retryAfterMilliseconds?, isRetryable?}`: one of Apple's codes, a status of verifyReceipt's, or a bare
    /// HTTP status below 1000.
    func provoke(_ call: Call) async throws(Refusal) -> JSONValue {
        let body = try call.object()
        guard let code = body.integer("code"),
            code < 1000 || (4_000_000...5_999_999).contains(code) || code / 1000 == 21
        else { throw Refusal(status: 400, "code is one of Apple's, or an HTTP status") }
        var refusal = code < 1000 ? Refusal(status: Int(code)) : Refusal(code, "Provoked.")
        refusal.isRetryable = body.bool("isRetryable")
        await store.provoke(
            SimulatedAppStore.Provocation(
                refusal: refusal, count: Int(body.integer("count") ?? 1),
                prefix: body.string("path") ?? (code / 1000 == 21 ? "/verifyReceipt" : "/inApps"),
                retryAfter: body.integer("retryAfterMilliseconds")))
        return [:]
    }
}
