-- serve: put behind turns, in front of the scripts that charge one bucket or window; answers a list of requests.

local CHARGED, REFUSED, WAITS, IMPOSSIBLE = 0, 1, 2, 3
local HEAD = 12                    -- items of the reply before the answers
local LAPSED = 3                   -- beside what was mended of single values

-- serve answers n, patience, n, patience … in order, and finds those who wait
-- their place. charge takes n tokens that start after wait.
local function serve(s, asked, own_gen, charge)
  local stop, stop_end = stopped(s)
  local reply = { s.now, s.lapsed and LAPSED or 0, stop, stop_end, 0, 0, own_gen, s.rev, 0, '', '', '' }
  local ask
  for i = 1, #asked, 2 do
    local n, patience = asked[i], asked[i + 1]
    local code, wait = WAITS, 0
    if n > s.max then
      code = IMPOSSIBLE
    elseif stop ~= 0 then
      wait = stop_end == 0 and MAX_NUMBER or stop_end - s.now
      -- A hold may be lifted at any time: it only ends a patience of none.
      if patience == 0 or (wait > patience and stop ~= HELD) then code = REFUSED else ask = wait end
    else
      wait = wait_for(s, n)
      if wait > patience then
        code = REFUSED
      elseif not s.head and not s.behind and wait <= s.horizon then
        code, s.granted, s.dirty = CHARGED, s.granted + n, true
        charge(s, n, wait)
        served(s)
      else
        wait_behind(s, n, wait)
      end
    end
    reply[HEAD + i], reply[HEAD + i + 1] = code, wait
  end
  if s.head then ask = stand(s, s.wait, s.behind) end
  if ask then reply[5], reply[6] = ask, s.ticket end   -- a stop takes nobody's place
  if overridden(s, s.now) then reply[9] = s.over_end or -1 end
  return reply
end
